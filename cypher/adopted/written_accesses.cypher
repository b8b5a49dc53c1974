// purpose: List the nodes of which a library logged an access since an instant.
// mode: read
// params: $rows.groups: List, $rows.ends: List, $sinceMs: Integer, $localMs: Integer, $localText: String, $limit: Integer
// returns: rule: Integer, key: String, at: String (a row for each access, in no order, at most $limit)
// names: :HALL, r.written, CASE WHEN n.scope IN $rows.groups THEN n.mapped END
//
// A rule is its number in the mapping, of a node in the scope. An instant is as in adopted/written_nodes.
MATCH ()-[r:HALL]->(n)
WHERE (r.written >= datetime({epochMillis: $sinceMs})
    OR r.written >= localdatetime(datetime({epochMillis: $localMs})) OR r.written >= date(datetime({epochMillis: $localMs}))
    OR r.written >= $sinceMs OR $sinceMs / 1000 <= r.written < 10000000000
    OR $localText <= r.written < '3')
WITH n, r, CASE WHEN n.scope IN $rows.groups THEN n.mapped END AS rule
WHERE rule IS NOT NULL
WITH rule, CASE $rows.ends[rule] WHEN '' THEN elementId(n) ELSE n[$rows.ends[rule]] END AS key, toString(r.written) + elementId(r) AS at
WHERE key IS :: STRING NOT NULL
RETURN rule, key, at
LIMIT $limit
