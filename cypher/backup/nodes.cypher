// purpose: Read the nodes that a backup contains.
// mode: read
// params: $rows.own: List, $rows.scoped: List
// returns: element: String, labels: List, values: Map (a row for each, in no order)
//
// As in backup/count.
MATCH (n)
WHERE any(label IN labels(n) WHERE label IN $rows.own) OR n.scope IS NOT NULL AND any(label IN labels(n) WHERE label IN $rows.scoped)
RETURN elementId(n) AS element, labels(n) AS labels, properties(n) AS values
