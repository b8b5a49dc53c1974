// purpose: Count the relationships of a type between marked nodes.
// mode: read
// params: $limit: Integer, $rows.labels: List, $rows.marks: List
// returns: relationships: Integer (one row)
// names: :Room, :HALL
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
MATCH (n)-[r:HALL]->(m)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(m) AND m[$rows.marks[i]] IS NOT NULL)
WITH r LIMIT $limit
RETURN count(r) AS relationships
