// purpose: Open the receipt of a deletion of a scope, or continue that of one that was broken off.
// mode: write
// params: $scope: String, $id: String, $by: String
// returns: id: String (one row)
// bound: one key
// idempotent: by the unique scope of an open receipt
// clock: server
MERGE (e:EbbErasure {open: $scope})
ON CREATE SET e.id = $id, e.scope = $scope, e.by = $by, e.at = datetime.realtime(), e.labels = [], e.counts = [], e.emptied = 0
SET e.lock = true
RETURN e.id AS id
