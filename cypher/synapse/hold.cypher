// purpose: Lock the learned weights of a scope to the end of the transaction, and read its number of outcomes.
// mode: write
// params: $name: String, $scope: String
// returns: tick: Integer (one row)
// bound: one key
// idempotent: by the unique name
//
// The learner writes rows and tick in one transaction, and a reader sees committed data row by row: so a reader that
// needs the rows of one tick waits here until no transaction writes.
MERGE (c:EbbCounter {name: $name})
ON CREATE SET c.scope = $scope, c.tick = 0
SET c.lock = true
RETURN coalesce(toIntegerOrNull(c.tick), 0) AS tick
