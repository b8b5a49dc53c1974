// purpose: Hold what a scope has learned as it is, to the end of the transaction, and say how many outcomes that were.
// mode: write
// params: $name: String, $scope: String
// returns: tick: Integer (one row)
// bound: one key
// idempotent: by the unique name
//
// Who learns writes rows and tick in one transaction, and whoever reads them sees what was committed row by row: so a reader
// that wants those of one tick waits here until nobody writes.
MERGE (c:EbbCounter {name: $name})
ON CREATE SET c.scope = $scope, c.tick = 0
SET c.lock = true
RETURN coalesce(toIntegerOrNull(c.tick), 0) AS tick
