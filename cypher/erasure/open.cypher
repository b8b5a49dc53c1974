// purpose: Open the receipt of a deletion of a scope, or continue that of one that was broken off.
// mode: write
// params: $scope: String, $id: String, $by: String, $request: String
// returns: id: String (one row)
// bound: one key
// idempotent: by the unique scope of an open receipt
// clock: server
//
// $request is the id of the last request that opened it: a repeat of it is answered with the receipt.
MERGE (e:EbbErasure {open: $scope})
ON CREATE SET e.id = $id, e.scope = $scope, e.by = $by, e.at = datetime.realtime(), e.labels = [], e.counts = [], e.emptied = 0
SET e.lock = true, e.request = $request
RETURN e.id AS id
