// purpose: Count the keys that several relationships of a type between marked nodes have.
// mode: read
// params: $key: String, $limit: Integer, $examples: Integer, $rows.labels: List, $rows.marks: List
// returns: keys: Integer, rows: Integer, examples: List (one row)
// names: :Room, :HALL
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
MATCH (n)-[r:HALL]->(m)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(m) AND m[$rows.marks[i]] IS NOT NULL)
WITH r LIMIT $limit
WITH r[$key] AS key, count(*) AS rows
WHERE key IS NOT NULL AND rows > 1
RETURN count(*) AS keys, coalesce(sum(rows), 0) AS rows, collect(toStringOrNull(key))[0..$examples] AS examples
