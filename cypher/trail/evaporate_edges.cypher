// purpose: Evaporate the pheromones of a page of edges of some types to $cycle, and compute their costs then.
// mode: write
// params: $cycle: Integer, $limit: Integer, $success: Float, $traversal: Float, $recency: Float, $floor: Float, $most: Float, $bases: Map, $costMost: Float
// returns: scanned: Integer, changed: Integer, silenced: Integer, quarantined: Integer (one row)
// bound: $limit
// idempotent: by $cycle: an edge that has reached it is passed over
// law: domain::trail::evaporated
// names: :HALL
// quarantine: SET r.ebbTrailReason = $reason, r.pheromone_cycle = null RETURN count(*) AS scanned, 0 AS changed, 0 AS silenced, count(*) AS quarantined
//
// As for places. An edge without a base cost gets that of its type. Each value is read once.
CALL () {
  MATCH ()-[r:HALL]->()
  USING INDEX SEEK r:HALL(pheromone_cycle)
  WHERE r.pheromone_cycle < $cycle
  RETURN r
}
WITH r
LIMIT $limit
SET r.ebbLock = true
WITH r, r.pheromone_cycle AS anchor, r.success_pheromone AS success, r.traversal_pheromone AS traversal, r.recency_pheromone AS recency, r.base_cost AS stored
WITH r, anchor, success, traversal, recency, stored, anchor < $cycle AS pending,
  CASE WHEN NOT anchor IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= anchor <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
    WHEN NOT success IS :: FLOAT AND NOT success IS :: INTEGER THEN 'success_pheromone is not a number'
    WHEN NOT traversal IS :: FLOAT AND NOT traversal IS :: INTEGER THEN 'traversal_pheromone is not a number'
    WHEN NOT recency IS :: FLOAT AND NOT recency IS :: INTEGER THEN 'recency_pheromone is not a number'
    WHEN any(value IN [success, traversal, recency] WHERE isNaN(toFloat(value)) OR value < 0.0 OR value > $most) THEN 'a pheromone is outside 0 to 1e6'
    WHEN NOT stored IS :: FLOAT AND NOT stored IS :: INTEGER THEN 'base_cost is not a number'
    WHEN isNaN(toFloat(stored)) OR stored < 0.0 OR stored > $most THEN 'base_cost is outside 0 to 1e6'
  END AS fault
WITH r, success, traversal, recency, stored, pending, fault, CASE WHEN pending AND fault IS NULL THEN $cycle - anchor END AS gone
WITH r, pending, fault, gone,
  success * (1.0 - $success) ^ gone AS successLeft,
  traversal * (1.0 - $traversal) ^ gone AS traversalLeft,
  recency * (1.0 - $recency) ^ gone AS recencyLeft,
  CASE WHEN gone IS NULL THEN null WHEN stored IS NOT NULL THEN toFloat(stored)
    WHEN type(r) = 'SIMILAR_TO' AND (r.similarity IS :: FLOAT NOT NULL OR r.similarity IS :: INTEGER NOT NULL) AND NOT isNaN(toFloat(r.similarity))
      THEN CASE WHEN r.similarity >= 1.0 THEN 0.0 WHEN r.similarity <= 0.0 THEN 1.0 ELSE 1.0 - r.similarity END
    ELSE $bases[type(r)]
  END AS base
WITH r, pending, fault, gone, base,
  CASE WHEN successLeft < $floor THEN 0.0 ELSE successLeft END AS success,
  CASE WHEN traversalLeft < $floor THEN 0.0 ELSE traversalLeft END AS traversal,
  CASE WHEN recencyLeft < $floor THEN 0.0 ELSE recencyLeft END AS recency
WITH r, pending, fault, gone, base, success, traversal, recency,
  gone IS NOT NULL AND coalesce(success, 0.0) = 0.0 AND coalesce(traversal, 0.0) = 0.0 AND coalesce(recency, 0.0) = 0.0 AS silent,
  base * (1.0 - 0.5 * (CASE WHEN success > 1.0 THEN 1.0 ELSE coalesce(success, 0.0) END * 0.5
    + CASE WHEN recency > 1.0 THEN 1.0 ELSE coalesce(recency, 0.0) END * 0.3
    + CASE WHEN traversal > 1.0 THEN 1.0 ELSE coalesce(traversal, 0.0) END * 0.2)) AS cost
FOREACH (_ IN CASE WHEN gone IS NOT NULL THEN [1] ELSE [] END |
  SET r.success_pheromone = success, r.traversal_pheromone = traversal, r.recency_pheromone = recency,
    r.base_cost = base, r.current_cost = CASE WHEN cost > $costMost THEN $costMost ELSE cost END,
    r.pheromone_cycle = CASE WHEN silent THEN null ELSE $cycle END)
FOREACH (_ IN CASE WHEN pending AND fault IS NOT NULL THEN [1] ELSE [] END |
  SET r.ebbTrailReason = fault, r.pheromone_cycle = null)
RETURN count(*) AS scanned,
  sum(CASE WHEN gone IS NOT NULL THEN 1 ELSE 0 END) AS changed,
  sum(CASE WHEN silent THEN 1 ELSE 0 END) AS silenced,
  sum(CASE WHEN pending AND fault IS NOT NULL THEN 1 ELSE 0 END) AS quarantined
