// purpose: Remove a policy.
// mode: write
// params: $id: String
// returns: removed: Integer (one row)
// bound: one key
// idempotent: by what is left
MATCH (p:EbbPolicy {id: $id})
DELETE p
RETURN count(*) AS removed
