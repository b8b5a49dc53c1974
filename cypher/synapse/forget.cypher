// purpose: Remove what was learned on the ways from and to a memory that is about to be forgotten.
// mode: write
// params: $scope: String, $rows.name: List, $limit: Integer
// returns: gone: Integer (one row; none where nothing was learned in its scope)
// bound: $limit rows each way
// idempotent: by what is left
//
// Whoever learns meanwhile is waited for, and looks for the tombstone when its turn comes: nothing is written anew. $rows.name is
// what the memory may be called.
MATCH (c:EbbCounter {name: 'tick:' + $scope})
SET c.lock = true
WITH $scope AS scope
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX s:EbbSynapse(scope, source)
  WHERE s.scope = scope AND s.source IN $rows.name
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS leaving
}
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX s:EbbSynapse(scope, target)
  WHERE s.scope = scope AND s.target IN $rows.name
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS arriving
}
RETURN leaving + arriving AS gone
