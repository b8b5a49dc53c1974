// purpose: Read the relationships from the rows of a label in a scope to rows of the scope.
// mode: read
// params: $rows.numbers: List, $scope: String, $label: String, $rows.own: List
// returns: kind: String, from: String, to: String, values: Map (a row for each, in no order)
// names: n.id, n.scope
//
// As in scope/count.
UNWIND $rows.numbers AS number
MATCH (n)
WHERE id(n) = number AND n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
MATCH (n)-[r]->(o)
WHERE coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL)))
RETURN type(r) AS kind, elementId(n) AS from, elementId(o) AS to, properties(r) AS values
