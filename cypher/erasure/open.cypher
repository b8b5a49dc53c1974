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
SET e.lock = true, e.scope = $scope, e.by = coalesce(toStringOrNull(e.by), $by),
  e.id = CASE WHEN e.id IS :: STRING NOT NULL THEN e.id ELSE $id END,
  e.at = CASE WHEN datetime({epochMillis: -62135596800000}) <= e.at < datetime({epochMillis: 253402300800000}) THEN e.at ELSE datetime.realtime() END,
  e.requests = ([id IN CASE WHEN e.requests IS :: LIST<STRING NOT NULL> NOT NULL THEN e.requests ELSE [] END WHERE id <> $request] + $request)[-$kept..]
RETURN e.id AS id
