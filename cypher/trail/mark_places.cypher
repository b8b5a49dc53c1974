// purpose: Write the computed pheromones of locked places, and their names.
// mode: write
// params: $rows.element: List, $rows.scope: List, $rows.name: List, $rows.exploitation: List, $rows.exploration: List, $rows.cycle: List
// returns: nothing
// bound: a list of elements
// idempotent: by the receipt of its transaction
//
// A pheromone that never existed stays absent, and a name that is not given stays unchanged.
UNWIND range(0, size($rows.element) - 1) AS i
MATCH (n)
WHERE elementId(n) = $rows.element[i]
SET n.scope = coalesce(n.scope, $rows.scope[i]),
  n.name = coalesce($rows.name[i], n.name),
  n.exploitation_pheromone = $rows.exploitation[i],
  n.exploration_pheromone = $rows.exploration[i],
  n.pheromone_cycle = $rows.cycle[i]
