// purpose: Count the relationships of a type between marked nodes.
// mode: read
// params: $limit: Integer
// returns: relationships: Integer (one row)
// names: :Room, :HALL, n.mapped, m.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
MATCH (n)-[r:HALL]->(m)
WHERE m.mapped IS NOT NULL
WITH r LIMIT $limit
RETURN count(r) AS relationships
