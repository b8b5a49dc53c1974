// purpose: Write the computed pheromones and costs of locked edges.
// mode: write
// params: $rows.element: List, $rows.success: List, $rows.traversal: List, $rows.recency: List, $rows.cycle: List, $rows.base: List, $rows.cost: List
// returns: nothing
// bound: a list of elements
// idempotent: by the receipt of its transaction
UNWIND range(0, size($rows.element) - 1) AS i
MATCH ()-[r]->()
WHERE elementId(r) = $rows.element[i]
SET r.success_pheromone = $rows.success[i],
  r.traversal_pheromone = $rows.traversal[i],
  r.recency_pheromone = $rows.recency[i],
  r.pheromone_cycle = $rows.cycle[i],
  r.base_cost = $rows.base[i],
  r.current_cost = $rows.cost[i]
