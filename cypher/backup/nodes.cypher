// purpose: Read the nodes of a range that a backup contains.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: element: String, key: String, labels: List, values: Map (a row for each, in no order)
//
// As in backup/count. The key is of the row itself: Neo4j gives the number of a deleted node to another one, and relationships are
// read later. It is of what a row keeps: a label, first of those that adoption does not add, and its id, key or name; a former
// version has the instant of its end.
UNWIND range($first, $last) AS number
MATCH (n)
WHERE id(n) = number
  AND (any(label IN labels(n) WHERE label IN $rows.own) OR coalesce(n.scope, n.pheromone_cycle, n.exploitation_pheromone, n.exploration_pheromone) IS NOT NULL AND any(label IN labels(n) WHERE label IN $rows.scoped))
RETURN elementId(n) AS element, [label IN $rows.scoped + $rows.own WHERE label IN labels(n)][0] + ' ' + coalesce(toStringOrNull(coalesce(n.id, n.key, n.name, n.until)), '') AS key,
  labels(n) AS labels, properties(n) AS values
