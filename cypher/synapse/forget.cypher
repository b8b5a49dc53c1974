// purpose: Remove what was learned on the ways from and to a memory that is about to be forgotten.
// mode: write
// params: $id: String, $limit: Integer
// returns: gone: Integer (one row; none where nothing was learned in its scope)
// bound: $limit rows each way
// idempotent: by what is left
//
// Whoever learns meanwhile is waited for, and looks for the tombstone when its turn comes: nothing is written anew. Where a
// node of another label has the same key, both are known by label and key.
MATCH (m:Memory {id: $id})
MATCH (c:EbbCounter {name: 'tick:' + m.scope})
SET c.lock = true
WITH c.scope AS scope
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX s:EbbSynapse(scope, source)
  WHERE s.scope = scope AND s.source IN [$id, 'Memory:' + $id]
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS leaving
}
CALL (scope) {
  MATCH (s:EbbSynapse)
  USING INDEX s:EbbSynapse(scope, target)
  WHERE s.scope = scope AND s.target IN [$id, 'Memory:' + $id]
  WITH s LIMIT $limit
  DELETE s
  RETURN count(*) AS arriving
}
RETURN leaving + arriving AS gone
