// purpose: Find the live memory of a promotion's stub.
// mode: read
// params: $scope: String, $id: String
// returns: id: String (at most one row)
MATCH (s:Memory {scope: $scope, id: $id})-[:PROMOTED_TO|CRYSTALLIZED_INTO]->(m:Memory {scope: $scope})
USING INDEX SEEK s:Memory(scope, id)
RETURN m.id AS id
LIMIT 1
