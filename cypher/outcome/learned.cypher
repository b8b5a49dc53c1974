// purpose: Remove outcomes from the backlog, in the transaction that writes what was learned from them.
// mode: write
// params: $rows.id: List
// returns: learned: Integer (one row)
// bound: a list of ids
// idempotent: by the tick of their scope, which is held and looked at before
//
// A request that nobody can repeat was kept for its outcome alone.
UNWIND $rows.id AS id
MATCH (r:EbbRequest {id: id})
USING INDEX SEEK r:EbbRequest(id)
REMOVE r.waits, r.active, r.reward
WITH r, r.hash IS NULL AND NOT r:EbbChange AS done
FOREACH (_ IN CASE WHEN done THEN [1] ELSE [] END | DELETE r)
RETURN count(*) AS learned
