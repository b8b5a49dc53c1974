// purpose: List the nodes of a mapped label and scope that their library wrote since an instant.
// mode: read
// params: $rows.groups: List, $sinceMs: Integer, $localMs: Integer, $localText: String, $limit: Integer
// returns: key: String, at: String (a row for each, in no order, at most $limit)
// names: :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, n.written
//
// An instant is a date with time and zone, one without a zone, a day, epoch seconds or milliseconds, or text. Those without a zone
// may be of any: they are compared with $localMs, $localText.
MATCH (n:Room)
WHERE (n.written >= datetime({epochMillis: $sinceMs})
    OR n.written >= localdatetime(datetime({epochMillis: $localMs})) OR n.written >= date(datetime({epochMillis: $localMs}))
    OR n.written >= $sinceMs OR $sinceMs / 1000 <= n.written < 10000000000
    OR $localText <= n.written < '3')
  AND n.scope IN $rows.groups AND n.mark IS NOT NULL AND n.id IS :: STRING NOT NULL
RETURN n.id AS key, toString(n.written) AS at
LIMIT $limit
