// purpose: Count the relationships of some nodes, each once.
// mode: read
// params: $limit: Integer, $rows.ids: List
// returns: relationships: Integer (one row)
UNWIND $rows.ids AS id
MATCH (n)
WHERE elementId(n) = id
MATCH (n)-[r]-()
WITH r LIMIT $limit
RETURN count(DISTINCT r) AS relationships
