// purpose: Remove a policy, and what was accepted of it.
// mode: write
// params: $id: String
// returns: removed: Integer (one row)
// bound: one key
// idempotent: by what is left
MATCH (p:EbbPolicy {id: $id})
DELETE p
WITH count(*) AS removed
CALL () {
  MATCH (c:EbbCounter)
  USING INDEX SEEK c:EbbCounter(name)
  WHERE c.name IN ['guard:local:' + $id, 'guard:team:' + $id, 'guard:company:' + $id, 'guard:public:' + $id]
  DELETE c
}
RETURN removed
