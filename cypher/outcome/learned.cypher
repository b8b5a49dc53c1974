// purpose: Take outcomes from those that wait: what they teach is written in the same transaction.
// mode: write
// params: $rows.id: List
// returns: learned: Integer (one row)
// bound: a list of ids
// idempotent: by the tick of their scope, which is held and looked at before
UNWIND $rows.id AS id
MATCH (r:EbbRequest {id: id})
REMOVE r.waits, r.active, r.reward
RETURN count(*) AS learned
