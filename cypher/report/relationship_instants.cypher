// purpose: List the instants from which many relationships of a type between marked nodes are no longer live.
// mode: read
// params: $limit: Integer, $least: Integer, $examples: Integer, $rows.until: List
// returns: instant: String, rows: Integer (a row for each, the most first)
// names: :Room, :HALL, n.mapped, m.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
MATCH (n)-[r:HALL]->(m)
WHERE m.mapped IS NOT NULL
WITH r LIMIT $limit
UNWIND $rows.until AS name
WITH r[name] AS at, count(*) AS rows
WHERE at IS NOT NULL AND rows >= $least
RETURN toStringOrNull(at) AS instant, rows
ORDER BY rows DESC LIMIT $examples
