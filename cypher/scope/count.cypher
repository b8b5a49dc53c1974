// purpose: Count the rows of a label in a scope, the relationships from them to rows of the scope, and those with rows of others.
// mode: read
// params: $rows.numbers: List, $scope: String, $label: String, $rows.own: List
// returns: nodes: Integer, relationships: Integer, outward: Integer (one row)
// names: n.id, n.scope
//
// As in scope/first. A row of the scope has its name and a label of $rows.own; one without an id, or a file without a
// repository, is of others.
UNWIND $rows.numbers AS number
MATCH (n)
WHERE id(n) = number AND n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
RETURN count(n) AS nodes,
  sum(COUNT {
    MATCH (n)-->(o)
    WHERE coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL)))
  }) AS relationships,
  sum(COUNT {
    MATCH (n)--(o)
    WHERE NOT (o:ConsolidationAttempt OR coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL))))
  }) AS outward
