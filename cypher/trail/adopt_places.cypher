// purpose: Adopt a page of places of a label with pheromones of other writers, from $cycle on, or quarantine them.
// mode: write
// params: $cycle: Integer, $limit: Integer, $most: Float
// returns: adopted: Integer, quarantined: Integer (one row)
// bound: $limit
// idempotent: by the cycle that an adopted one has, and the reason of one quarantined
// names: :Room
// quarantine: SET n.ebbTrailReason = $reason RETURN 0 AS adopted, count(*) AS quarantined
//
// Only places of other writers lack a cycle: a place that Ebb wrote has one as long as any pheromone is left. A
// quarantined place is adopted once its values are valid, one on which a statement failed on request. The absence of a
// property has no index, so this is part of a pass that scans every active place anyway. The CASE keeps the planner
// from the index of cycles, which does not contain places without a cycle. One label at a time: over several, a server
// may gather all of their rows before it cuts the page.
MATCH (n:Room)
WHERE CASE WHEN n.pheromone_cycle IS NULL THEN true ELSE NOT n.pheromone_cycle IS :: INTEGER END
  AND (n.exploitation_pheromone <> 0.0 OR n.exploration_pheromone <> 0.0)
WITH n,
  CASE WHEN n.ebbTrailReason CONTAINS ' failed on it: ' THEN n.ebbTrailReason
    WHEN n.pheromone_cycle IS NOT NULL THEN 'pheromone_cycle is not a whole number'
    WHEN NOT n.exploitation_pheromone IS :: FLOAT AND NOT n.exploitation_pheromone IS :: INTEGER THEN 'exploitation_pheromone is not a number'
    WHEN NOT n.exploration_pheromone IS :: FLOAT AND NOT n.exploration_pheromone IS :: INTEGER THEN 'exploration_pheromone is not a number'
    WHEN any(value IN [n.exploitation_pheromone, n.exploration_pheromone] WHERE isNaN(toFloat(value)) OR value < 0.0 OR value > $most) THEN 'a pheromone is outside 0 to 1e6'
  END AS fault
WHERE fault IS NULL OR n.ebbTrailReason IS NULL
WITH n, fault
LIMIT $limit
SET n.ebbLock = true
WITH n, fault, n.pheromone_cycle IS NULL AS free
FOREACH (_ IN CASE WHEN fault IS NULL AND free THEN [1] ELSE [] END |
  SET n.pheromone_cycle = $cycle, n.ebbTrailReason = null)
FOREACH (_ IN CASE WHEN fault IS NULL THEN [] ELSE [1] END |
  SET n.ebbTrailReason = fault)
RETURN sum(CASE WHEN fault IS NULL THEN 1 ELSE 0 END) AS adopted, sum(CASE WHEN fault IS NULL THEN 0 ELSE 1 END) AS quarantined
