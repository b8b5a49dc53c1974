// purpose: Evaporate the pheromones of a page of places of some labels to $cycle.
// mode: write
// params: $cycle: Integer, $limit: Integer, $exploitation: Float, $exploration: Float, $floor: Float, $most: Float
// returns: scanned: Integer, changed: Integer, silenced: Integer, quarantined: Integer (one row)
// bound: $limit
// idempotent: by $cycle: a place that has reached it is passed over
// law: domain::trail::evaporated
// names: :Room
// quarantine: SET n.ebbTrailReason = $reason, n.pheromone_cycle = null RETURN count(*) AS scanned, 0 AS changed, 0 AS silenced, count(*) AS quarantined
//
// The subquery is repeated for each label, and united: a place of two labels is one row. The page is cut by the indexes
// of cycles before anything is written, and every written row leaves it, so the next page begins at the same position.
// Each place is locked, then checked. A place whose values no law can use is quarantined with the reason and loses its
// cycle, so that no page reads it again; its pheromones are unchanged.
CALL () {
  MATCH (n:Room)
  USING INDEX SEEK n:Room(pheromone_cycle)
  WHERE n.pheromone_cycle < $cycle
  RETURN n
}
WITH n
LIMIT $limit
SET n.ebbLock = true
WITH n, n.pheromone_cycle AS anchor, n.exploitation_pheromone AS exploitation, n.exploration_pheromone AS exploration
WITH n, anchor, exploitation, exploration, anchor < $cycle AS pending,
  CASE WHEN NOT anchor IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= anchor <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
    WHEN NOT exploitation IS :: FLOAT AND NOT exploitation IS :: INTEGER THEN 'exploitation_pheromone is not a number'
    WHEN NOT exploration IS :: FLOAT AND NOT exploration IS :: INTEGER THEN 'exploration_pheromone is not a number'
    WHEN any(value IN [exploitation, exploration] WHERE isNaN(toFloat(value)) OR value < 0.0 OR value > $most) THEN 'a pheromone is outside 0 to 1e6'
  END AS fault
WITH n, exploitation, exploration, pending, fault, CASE WHEN pending AND fault IS NULL THEN $cycle - anchor END AS gone
WITH n, pending, fault, gone,
  exploitation * (1.0 - $exploitation) ^ gone AS exploitationLeft,
  exploration * (1.0 - $exploration) ^ gone AS explorationLeft
WITH n, pending, fault, gone,
  CASE WHEN exploitationLeft < $floor THEN 0.0 ELSE exploitationLeft END AS exploitation,
  CASE WHEN explorationLeft < $floor THEN 0.0 ELSE explorationLeft END AS exploration
WITH n, pending, fault, gone, exploitation, exploration,
  gone IS NOT NULL AND coalesce(exploitation, 0.0) = 0.0 AND coalesce(exploration, 0.0) = 0.0 AS silent
FOREACH (_ IN CASE WHEN gone IS NOT NULL THEN [1] ELSE [] END |
  SET n.exploitation_pheromone = exploitation, n.exploration_pheromone = exploration,
    n.pheromone_cycle = CASE WHEN silent THEN null ELSE $cycle END)
FOREACH (_ IN CASE WHEN pending AND fault IS NOT NULL THEN [1] ELSE [] END |
  SET n.ebbTrailReason = fault, n.pheromone_cycle = null)
RETURN count(*) AS scanned,
  sum(CASE WHEN gone IS NOT NULL THEN 1 ELSE 0 END) AS changed,
  sum(CASE WHEN silent THEN 1 ELSE 0 END) AS silenced,
  sum(CASE WHEN pending AND fault IS NOT NULL THEN 1 ELSE 0 END) AS quarantined
