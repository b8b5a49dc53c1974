// purpose: Count the relationships that lead from other nodes to the marked nodes of several labels.
// mode: read
// params: $limit: Integer
// returns: looked: Integer, relationships: Integer (one row; looked counts those from marked nodes too)
// names: :Room, n.mapped, m.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
WITH n LIMIT $limit
MATCH (n)<--(m)
WITH m LIMIT $limit
RETURN count(*) AS looked, count(CASE WHEN m.mapped IS NULL THEN 1 END) AS relationships
