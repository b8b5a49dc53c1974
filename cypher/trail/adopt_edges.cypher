// purpose: Adopt a page of edges of a type with pheromones of other writers, from $cycle on, or quarantine them.
// mode: write
// params: $cycle: Integer, $limit: Integer, $most: Float, $bases: Map, $costMost: Float
// returns: adopted: Integer, quarantined: Integer (one row)
// bound: $limit
// idempotent: by the cycle that an adopted one has, and the reason of one quarantined
// law: domain::trail::cost
// names: :HALL
// quarantine: SET r.ebbTrailReason = $reason RETURN 0 AS adopted, count(*) AS quarantined
//
// As for places. The cost of an adopted edge is from now on computed from its pheromones and its base, which is that of
// its type where it has none. The values are read again under the lock.
MATCH ()-[r:HALL]->()
WHERE CASE WHEN r.pheromone_cycle IS NULL THEN true ELSE NOT r.pheromone_cycle IS :: INTEGER END
  AND (r.success_pheromone <> 0.0 OR r.traversal_pheromone <> 0.0 OR r.recency_pheromone <> 0.0)
WITH r,
  CASE WHEN r.ebbTrailReason CONTAINS ' failed on it: ' THEN r.ebbTrailReason
    WHEN r.pheromone_cycle IS NOT NULL THEN 'pheromone_cycle is not a whole number'
    WHEN NOT r.success_pheromone IS :: FLOAT AND NOT r.success_pheromone IS :: INTEGER THEN 'success_pheromone is not a number'
    WHEN NOT r.traversal_pheromone IS :: FLOAT AND NOT r.traversal_pheromone IS :: INTEGER THEN 'traversal_pheromone is not a number'
    WHEN NOT r.recency_pheromone IS :: FLOAT AND NOT r.recency_pheromone IS :: INTEGER THEN 'recency_pheromone is not a number'
    WHEN any(value IN [r.success_pheromone, r.traversal_pheromone, r.recency_pheromone] WHERE isNaN(toFloat(value)) OR value < 0.0 OR value > $most) THEN 'a pheromone is outside 0 to 1e6'
    WHEN NOT r.base_cost IS :: FLOAT AND NOT r.base_cost IS :: INTEGER THEN 'base_cost is not a number'
    WHEN isNaN(toFloat(r.base_cost)) OR r.base_cost < 0.0 OR r.base_cost > $most THEN 'base_cost is outside 0 to 1e6'
  END AS fault
WHERE fault IS NULL OR r.ebbTrailReason IS NULL
WITH r, fault
LIMIT $limit
SET r.ebbLock = true
WITH r, fault, fault IS NULL AND r.pheromone_cycle IS NULL AS free
WITH r, fault, free,
  CASE WHEN free THEN toFloat(r.success_pheromone) END AS success,
  CASE WHEN free THEN toFloat(r.traversal_pheromone) END AS traversal,
  CASE WHEN free THEN toFloat(r.recency_pheromone) END AS recency,
  CASE WHEN free THEN CASE WHEN r.base_cost IS NOT NULL THEN toFloat(r.base_cost)
    WHEN type(r) = 'SIMILAR_TO' AND (r.similarity IS :: FLOAT NOT NULL OR r.similarity IS :: INTEGER NOT NULL) AND NOT isNaN(toFloat(r.similarity))
      THEN CASE WHEN r.similarity >= 1.0 THEN 0.0 WHEN r.similarity <= 0.0 THEN 1.0 ELSE 1.0 - r.similarity END
    ELSE $bases[type(r)]
  END END AS base
WITH r, fault, free, base,
  base * (1.0 - 0.5 * (CASE WHEN success > 1.0 THEN 1.0 ELSE coalesce(success, 0.0) END * 0.5
    + CASE WHEN recency > 1.0 THEN 1.0 ELSE coalesce(recency, 0.0) END * 0.3
    + CASE WHEN traversal > 1.0 THEN 1.0 ELSE coalesce(traversal, 0.0) END * 0.2)) AS cost
FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END |
  SET r.pheromone_cycle = $cycle, r.ebbTrailReason = null, r.base_cost = base,
    r.current_cost = CASE WHEN cost > $costMost THEN $costMost ELSE cost END)
FOREACH (_ IN CASE WHEN fault IS NULL THEN [] ELSE [1] END |
  SET r.ebbTrailReason = fault)
RETURN sum(CASE WHEN fault IS NULL THEN 1 ELSE 0 END) AS adopted, sum(CASE WHEN fault IS NULL THEN 0 ELSE 1 END) AS quarantined
