// purpose: List the instants from which many relationships of a type between marked nodes are no longer live.
// mode: read
// params: $limit: Integer, $least: Integer, $examples: Integer, $rows.labels: List, $rows.marks: List, $rows.until: List
// returns: instant: String, rows: Integer (a row for each, the most first)
// names: :Room, :HALL
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
MATCH (n)-[r:HALL]->(m)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(m) AND m[$rows.marks[i]] IS NOT NULL)
WITH r LIMIT $limit
UNWIND $rows.until AS name
WITH r[name] AS at, count(*) AS rows
WHERE at IS NOT NULL AND rows >= $least
RETURN toStringOrNull(at) AS instant, rows
ORDER BY rows DESC LIMIT $examples
