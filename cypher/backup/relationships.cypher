// purpose: Read the relationships that a backup contains, of those that begin in a range: between two of its nodes.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: kind: String, from: String, to: String, values: Map (a row for each, in no order)
//
// As in backup/count.
UNWIND range($first, $last) AS number
MATCH (a)
WHERE id(a) = number
  AND (any(label IN labels(a) WHERE label IN $rows.own) OR a.scope IS NOT NULL AND any(label IN labels(a) WHERE label IN $rows.scoped))
WITH a
MATCH (a)-[r]->(b)
WHERE any(label IN labels(b) WHERE label IN $rows.own) OR b.scope IS NOT NULL AND any(label IN labels(b) WHERE label IN $rows.scoped)
RETURN type(r) AS kind, elementId(a) AS from, elementId(b) AS to, properties(r) AS values
