// purpose: Give clusters of another writer without a scope the scope of their members.
// mode: write
// params: $scope: String, $rows.id: List
// returns: adopted: Integer (one row)
// bound: a list of ids
// idempotent: by the scope
//
// Of several with one id, one is chosen; an id that exists in the scope is left alone.
UNWIND $rows.id AS id
CALL (id) {
  MATCH (c:SemanticCluster {id: id})
  USING INDEX SEEK c:SemanticCluster(id)
  WHERE c.scope IS NULL AND EXISTS { (c)<-[:BELONGS_TO]-(:Memory {scope: $scope}) }
    AND NOT EXISTS { MATCH (same:SemanticCluster {scope: $scope, id: id}) USING INDEX SEEK same:SemanticCluster(scope, id) }
  RETURN c
  ORDER BY elementId(c)
  LIMIT 1
}
SET c.scope = $scope
RETURN count(c) AS adopted
