// purpose: Take away what a process said that it holds in memory of a scope.
// mode: write
// params: $name: String
// returns: gone: Integer (one row)
// bound: one key
// idempotent: by the unique name
MATCH (c:EbbCounter {name: $name})
DELETE c
RETURN count(*) AS gone
