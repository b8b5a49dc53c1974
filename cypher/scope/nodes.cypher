// purpose: Read the rows of a label in a scope.
// mode: read
// params: $rows.numbers: List, $scope: String, $label: String, $rows.own: List
// returns: element: String, key: String, labels: List, values: Map (a row for each, in no order)
// names: n.id, n.scope
//
// As in scope/count; keys as in backup/nodes.
UNWIND $rows.numbers AS number
MATCH (n)
WHERE id(n) = number AND n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
WITH n AS row
RETURN elementId(row) AS element, $label + ' ' + coalesce(toStringOrNull(coalesce(row.id, row.key, row.name, row.until)), '') AS key, labels(row) AS labels, properties(row) AS values
