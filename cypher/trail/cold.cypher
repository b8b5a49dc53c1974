// purpose: List the places of a label and scope with the least pheromone left at $cycle.
// mode: read
// params: $scope: String, $cycle: Integer, $limit: Integer, $exploitation: Float, $exploration: Float, $floor: Float
// returns: element, scope, id, exploitation, exploration, cycle, fault (at most $limit rows)
// law: domain::trail::evaporated
// names: :Room, n.id
MATCH (n:Room)
WHERE coalesce(n.scope, 'local') = $scope AND n.id IS NOT NULL AND toStringOrNull(n.id) IS NOT NULL AND n.ebbTrailReason IS NULL
WITH n, CASE WHEN -1000000000000000 <= n.pheromone_cycle < $cycle THEN $cycle - n.pheromone_cycle ELSE 0 END AS gone
WITH n, gone,
  coalesce(toFloatOrNull(n.exploitation_pheromone), 0.0) * (1.0 - $exploitation) ^ gone AS exploitation,
  coalesce(toFloatOrNull(n.exploration_pheromone), 0.0) * (1.0 - $exploration) ^ gone AS exploration
WITH n,
  CASE WHEN gone > 0 AND exploitation < $floor THEN 0.0 ELSE exploitation END
    + CASE WHEN gone > 0 AND exploration < $floor THEN 0.0 ELSE exploration END AS warmth, toStringOrNull(n.id) AS id
ORDER BY warmth, id
LIMIT $limit
RETURN elementId(n) AS element, $scope AS scope, id,
  CASE WHEN n.exploitation_pheromone IS :: FLOAT OR n.exploitation_pheromone IS :: INTEGER THEN toFloat(n.exploitation_pheromone) END AS exploitation,
  CASE WHEN n.exploration_pheromone IS :: FLOAT OR n.exploration_pheromone IS :: INTEGER THEN toFloat(n.exploration_pheromone) END AS exploration,
  CASE WHEN n.pheromone_cycle IS :: INTEGER THEN n.pheromone_cycle END AS cycle,
  CASE WHEN n.ebbTrailReason IS NOT NULL THEN toStringOrNull(n.ebbTrailReason)
    WHEN NOT n.exploitation_pheromone IS :: FLOAT AND NOT n.exploitation_pheromone IS :: INTEGER THEN 'exploitation_pheromone is not a number'
    WHEN NOT n.exploration_pheromone IS :: FLOAT AND NOT n.exploration_pheromone IS :: INTEGER THEN 'exploration_pheromone is not a number'
    WHEN NOT n.pheromone_cycle IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= n.pheromone_cycle <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
  END AS fault
