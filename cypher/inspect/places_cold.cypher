// Cold places: places with the least exploitation and exploration, as of the last pass
// purpose: Show the places with least exploitation and exploration.
// mode: read
// params: none
// returns: scope, label, place, exploitation, exploration, cycle (at most 50 rows)
//
// An entity is a place once it was walked or searched: most are only mentioned in memories, and on no trail.
MATCH (n:Wing|Room|Closet|Drawer|Entity)
WHERE n.ebbTrailReason IS NULL AND CASE WHEN n:Entity THEN n.exploitation_pheromone IS NOT NULL OR n.exploration_pheromone IS NOT NULL ELSE n.id IS NOT NULL END
WITH n, coalesce(n.scope, 'local') AS scope, coalesce(toFloatOrNull(n.exploitation_pheromone), 0.0) + coalesce(toFloatOrNull(n.exploration_pheromone), 0.0) AS warmth,
  head([label IN labels(n) WHERE label IN ['Wing', 'Room', 'Closet', 'Drawer', 'Entity']]) AS label, CASE WHEN n:Entity THEN n.name ELSE n.id END AS place
ORDER BY warmth, label, place
LIMIT 50
RETURN scope, label, place, n.exploitation_pheromone AS exploitation, n.exploration_pheromone AS exploration, n.pheromone_cycle AS cycle
