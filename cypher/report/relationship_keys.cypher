// purpose: Count the keys that several relationships of a type between marked nodes have.
// mode: read
// params: $key: String, $limit: Integer, $examples: Integer
// returns: keys: Integer, rows: Integer, examples: List (one row)
// names: :Room, :HALL, n.mapped, m.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
MATCH (n)-[r:HALL]->(m)
WHERE m.mapped IS NOT NULL
WITH r LIMIT $limit
WITH r[$key] AS key, count(*) AS rows
WHERE key IS NOT NULL AND rows > 1
RETURN count(*) AS keys, coalesce(sum(rows), 0) AS rows, collect(toStringOrNull(key))[0..$examples] AS examples
