// purpose: Name the living memory that a promotion's stub belongs to.
// mode: read
// params: $id: String
// returns: id: String (at most one row)
MATCH (s:Memory {id: $id})-[:PROMOTED_TO|CRYSTALLIZED_INTO]->(m:Memory)
RETURN m.id AS id
LIMIT 1
