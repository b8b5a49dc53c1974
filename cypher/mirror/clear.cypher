// purpose: Remove the mirror status of a process for a scope.
// mode: write
// params: $name: String
// returns: gone: Integer (one row)
// bound: one key
// idempotent: by the unique name
MATCH (c:EbbCounter {name: $name})
DELETE c
RETURN count(*) AS gone
