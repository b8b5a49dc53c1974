// purpose: Count the relationships of some nodes, each once.
// mode: read
// params: $limit: Integer, $rows.ids: List
// returns: looked: Integer, relationships: Integer (one row; looked counts one between two of them twice)
UNWIND $rows.ids AS id
MATCH (n)
WHERE elementId(n) = id
MATCH (n)-[r]-()
WITH r LIMIT $limit
RETURN count(*) AS looked, count(DISTINCT r) AS relationships
