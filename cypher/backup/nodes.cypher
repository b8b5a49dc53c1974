// purpose: Read the nodes of a range that a backup contains.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: element: String, labels: List, values: Map (a row for each, in no order)
//
// As in backup/count.
UNWIND range($first, $last) AS number
MATCH (n)
WHERE id(n) = number
  AND (any(label IN labels(n) WHERE label IN $rows.own) OR n.scope IS NOT NULL AND any(label IN labels(n) WHERE label IN $rows.scoped))
RETURN elementId(n) AS element, labels(n) AS labels, properties(n) AS values
