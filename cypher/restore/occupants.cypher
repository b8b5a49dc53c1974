// purpose: Count by label the nodes that are in the way of a restore: those that a backup would contain, without those of an initialisation.
// mode: read
// params: $rows.own: List, $rows.scoped: List
// returns: label: String, nodes: Integer (at most 8 rows, the most frequent first)
//
// As in backup/count, with a shorter $rows.own. What a restore wrote that was broken off is not in its way.
MATCH (n)
WHERE NOT n:EbbRestored
  AND (any(label IN labels(n) WHERE label IN $rows.own) OR coalesce(n.scope, n.pheromone_cycle, n.exploitation_pheromone, n.exploration_pheromone) IS NOT NULL AND any(label IN labels(n) WHERE label IN $rows.scoped))
WITH head(labels(n)) AS label, count(*) AS nodes
RETURN label, nodes
ORDER BY nodes DESC, label
LIMIT 8
