// purpose: Begin a page of a deletion: lock its receipt until commit, and read what was counted.
// mode: write
// params: $scope: String, $id: String
// returns: labels: List, counts: List, emptied: Integer (one row; none if the deletion is finished)
// bound: one key
// idempotent: by writing nothing but the lock
MATCH (e:EbbErasure {open: $scope})
SET e.lock = true
WITH e
WHERE e.id = $id
RETURN e.labels AS labels, e.counts AS counts, e.emptied AS emptied
