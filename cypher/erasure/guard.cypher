// purpose: Begin a page of a deletion: lock its receipt until commit, and read what was counted.
// mode: write
// params: $scope: String, $id: String
// returns: labels: List, counts: List, emptied: Integer (one row; none if the deletion is finished)
// bound: one key
// idempotent: by writing nothing but the lock
MATCH (e:EbbErasure {open: $scope})
USING INDEX SEEK e:EbbErasure(open)
SET e.lock = true
WITH e
WHERE e.id = $id
RETURN CASE WHEN e.labels IS :: LIST<STRING NOT NULL> NOT NULL THEN e.labels ELSE [] END AS labels,
  CASE WHEN e.counts IS :: LIST<INTEGER NOT NULL> NOT NULL THEN e.counts ELSE [] END AS counts,
  coalesce(toIntegerOrNull(e.emptied), 0) AS emptied
