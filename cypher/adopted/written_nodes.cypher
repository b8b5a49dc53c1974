// purpose: List the nodes of a mapped label and scope that their library wrote since an instant.
// mode: read
// params: $rows.groups: List, $sinceMs: Integer, $sinceText: String, $limit: Integer
// returns: key: String, at: String (a row for each, in no order, at most $limit)
// names: :Room, n.id, n.mark, n.scope IN $rows.groups, n.written
//
// An instant is a date, epoch milliseconds or text; one of another type is never later.
MATCH (n:Room)
WHERE (n.written >= datetime({epochMillis: $sinceMs}) OR n.written >= $sinceMs OR n.written >= $sinceText)
  AND n.scope IN $rows.groups AND n.mark IS NOT NULL AND n.id IS :: STRING NOT NULL
RETURN n.id AS key, toString(n.written) AS at
LIMIT $limit
