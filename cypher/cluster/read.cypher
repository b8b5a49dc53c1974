// purpose: Read clusters of a scope by id or by key, with their members.
// mode: read
// params: $scope: String, $rows.id: List, $rows.key: List
// returns: id: String, key: String, strength: Float, size: Integer, dissolved: Boolean, members: List (a row for each that exists)
CALL () {
  UNWIND $rows.id AS id
  MATCH (c:SemanticCluster {scope: $scope, id: id})
  USING INDEX SEEK c:SemanticCluster(scope, id)
  RETURN c
  UNION
  UNWIND $rows.key AS key
  MATCH (c:SemanticCluster {scope: $scope, key: key})
  USING INDEX SEEK c:SemanticCluster(scope, key)
  RETURN c
}
WITH c
WHERE c.id IS :: STRING NOT NULL
RETURN c.id AS id, toStringOrNull(c.key) AS key, toFloatOrNull(c.strength) AS strength, toIntegerOrNull(c.size) AS size,
  c.dissolved IS NOT NULL AS dissolved,
  [(c)<-[:BELONGS_TO]-(m:Memory {scope: $scope}) WHERE m:EbbMemory AND valueType(m.id) = 'STRING NOT NULL' | m.id] AS members
