// purpose: Read the relationships from the rows of a label in a scope to rows of the scope.
// mode: read
// params: $rows.numbers: List, $scope: String, $label: String, $rows.own: List
// returns: kind: String, from: String, fromKey: String, to: String, toKey: String, values: Map (a row for each, in no order)
// names: n.id, n.scope
//
// As in scope/count; keys as in backup/nodes.
UNWIND $rows.numbers AS number
MATCH (n)
WHERE id(n) = number AND n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
MATCH (n)-[r]->(o)
WHERE coalesce(o.scope = $scope, false) AND any(label IN labels(o) WHERE label IN $rows.own AND (label STARTS WITH 'Ebb' OR o.id IS NOT NULL AND (label <> 'File' OR o.repository IS NOT NULL)))
WITH n AS row, r, o
RETURN type(r) AS kind, elementId(row) AS from, $label + ' ' + coalesce(toStringOrNull(coalesce(row.id, row.key, row.name, row.until)), '') AS fromKey,
  elementId(o) AS to, [label IN $rows.own WHERE label IN labels(o)][0] + ' ' + coalesce(toStringOrNull(coalesce(o.id, o.key, o.name, o.until)), '') AS toKey, properties(r) AS values
