// purpose: Read the relationships that a backup contains, of those that begin in a range: between two of its nodes.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: kind: String, from: String, fromKey: String, to: String, toKey: String, values: Map (a row for each, in no order)
//
// As in backup/count; keys as in backup/nodes.
UNWIND range($first, $last) AS number
MATCH (a)
WHERE id(a) = number
  AND (any(label IN labels(a) WHERE label IN $rows.own) OR coalesce(a.scope, a.pheromone_cycle, a.exploitation_pheromone, a.exploration_pheromone) IS NOT NULL AND any(label IN labels(a) WHERE label IN $rows.scoped))
WITH a
MATCH (a)-[r]->(b)
WHERE any(label IN labels(b) WHERE label IN $rows.own) OR coalesce(b.scope, b.pheromone_cycle, b.exploitation_pheromone, b.exploration_pheromone) IS NOT NULL AND any(label IN labels(b) WHERE label IN $rows.scoped)
RETURN type(r) AS kind, elementId(a) AS from, [label IN $rows.scoped + $rows.own WHERE label IN labels(a)][0] + ' ' + coalesce(toStringOrNull(coalesce(a.id, a.key, a.name, a.until)), '') AS fromKey,
  elementId(b) AS to, [label IN $rows.scoped + $rows.own WHERE label IN labels(b)][0] + ' ' + coalesce(toStringOrNull(coalesce(b.id, b.key, b.name, b.until)), '') AS toKey, properties(r) AS values
