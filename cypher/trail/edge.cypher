// purpose: Create edges of a type between locked places, with their pheromones.
// mode: write
// params: $rows.from: List, $rows.to: List, $rows.success: List, $rows.traversal: List, $rows.recency: List, $rows.cycle: List, $rows.base: List, $rows.cost: List
// returns: nothing
// bound: a list of pairs of places
// idempotent: by the receipt of its transaction, which holds both ends
// names: :HALL
UNWIND range(0, size($rows.from) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.from[i]
MATCH (b)
WHERE elementId(b) = $rows.to[i]
CREATE (a)-[:HALL {
  success_pheromone: $rows.success[i],
  traversal_pheromone: $rows.traversal[i],
  recency_pheromone: $rows.recency[i],
  pheromone_cycle: $rows.cycle[i],
  base_cost: $rows.base[i],
  current_cost: $rows.cost[i]
}]->(b)
