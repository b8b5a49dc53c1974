// purpose: Delete a page of the rows of a label in a scope.
// mode: write
// params: $scope: String, $label: String, $rows.own: List, $rows.labels: List, $limit: Integer
// returns: nodes: Integer, emptied: Integer (one row)
// bound: $limit
// idempotent: by their absence
// names: :Room, n.id, n.scope
//
// As in scope/count. A relationship that leads to a row of others is not Ebb's and cannot stay without its end: such a
// row is emptied instead, of its properties, its relationships to rows of the scope, and $rows.labels.
MATCH (n:Room)
WHERE n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
WITH n LIMIT $limit
SET n.ebbLock = true
WITH n, EXISTS {
    MATCH (n)--(o)
    WHERE NOT (o:ConsolidationAttempt OR coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL))))
  } AS shared
WITH collect(CASE WHEN shared THEN n END) AS emptied, collect(CASE WHEN NOT shared THEN n END) AS deleted
CALL (emptied) {
  UNWIND emptied AS n
  MATCH (n)-[r]-(o)
  WHERE o:ConsolidationAttempt OR coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL)))
  DELETE r
}
FOREACH (n IN emptied | SET n = {} REMOVE n:$($rows.labels))
FOREACH (n IN deleted | DETACH DELETE n)
RETURN size(emptied) + size(deleted) AS nodes, size(emptied) AS emptied
