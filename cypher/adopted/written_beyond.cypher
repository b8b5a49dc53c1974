// purpose: List the nodes that a path leads to from those of a mapped label and scope that their library wrote since an instant.
// mode: read
// params: $rows.groups: List, $rows.ends: List, $sinceMs: Integer, $localMs: Integer, $localText: String, $limit: Integer
// returns: rule: Integer, key: String, at: String (a row for each, in no order, at most $limit)
// names: :Room, n.mark IS NOT NULL, n.scope IN $rows.groups, n.written, :HALL, CASE WHEN b.scope IN $rows.groups THEN b.mapped END
//
// The path may have brought them into the scope. A rule is its number in the mapping. An instant is as in adopted/written_nodes.
MATCH (n:Room)
WHERE (n.written >= datetime({epochMillis: $sinceMs})
    OR n.written >= localdatetime(datetime({epochMillis: $localMs})) OR n.written >= date(datetime({epochMillis: $localMs}))
    OR n.written >= $sinceMs OR $sinceMs / 1000 <= n.written < 10000000000
    OR $localText <= n.written < '3')
  AND n.scope IN $rows.groups AND n.mark IS NOT NULL
MATCH (n)-[:HALL]->(b)
WITH n, b, CASE WHEN b.scope IN $rows.groups THEN b.mapped END AS rule
WHERE rule IS NOT NULL
WITH rule, CASE $rows.ends[rule] WHEN '' THEN elementId(b) ELSE b[$rows.ends[rule]] END AS key, toString(n.written) + elementId(n) AS at
WHERE key IS :: STRING NOT NULL
RETURN rule, key, at
LIMIT $limit
