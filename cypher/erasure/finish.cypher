// purpose: End the deletion of a scope.
// mode: write
// params: $scope: String, $id: String
// returns: finished: Integer (one row; 0 if it was finished before)
// bound: one key
// idempotent: by the open receipt
// clock: server
MATCH (e:EbbErasure {open: $scope})
USING INDEX SEEK e:EbbErasure(open)
WHERE e.id = $id
SET e.finished = datetime.realtime()
REMOVE e.open, e.lock
RETURN count(e) AS finished
