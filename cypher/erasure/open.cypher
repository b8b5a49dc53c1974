// purpose: Open the receipt of a deletion of a scope, or continue that of one that was broken off.
// mode: write
// params: $scope: String, $id: String, $by: String, $request: String, $kept: Integer
// returns: id: String (one row)
// bound: one key
// idempotent: by the unique scope of an open receipt
// clock: server
//
// The last $kept ids of requests for it stay, so that a late repeat of one is answered with the receipt, and deletes nothing
// that was written after it.
MERGE (e:EbbErasure {open: $scope})
ON CREATE SET e.id = $id, e.scope = $scope, e.by = $by, e.at = datetime.realtime(), e.labels = [], e.counts = [], e.emptied = 0
SET e.lock = true,
  e.requests = ([id IN CASE WHEN e.requests IS :: LIST<STRING NOT NULL> NOT NULL THEN e.requests ELSE [] END WHERE id <> $request] + $request)[-$kept..]
RETURN e.id AS id
