// purpose: Remove the learned weights from and to a memory that is about to be forgotten.
// mode: write
// params: $scope: String, $rows.name: List, $limit: Integer
// returns: gone: Integer (one row; none where nothing was learned in its scope)
// bound: $limit rows each way
// idempotent: by what is left
//
// Concurrent learning is waited for by the lock, and checks for the tombstone when it runs next: nothing is written
// again. $rows.name are the possible names of the memory.
MATCH (c:EbbCounter {name: 'tick:' + $scope})
SET c.lock = true
WITH $scope AS scope
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX SEEK s:EbbSynapse(scope, source)
  WHERE s.scope = scope AND s.source IN $rows.name
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS leaving
}
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX SEEK s:EbbSynapse(scope, target)
  WHERE s.scope = scope AND s.target IN $rows.name
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS arriving
}
RETURN leaving + arriving AS gone
