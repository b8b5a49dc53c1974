// Hot trails: the edges that led to good outcomes and are walked most, as of the last pass
// purpose: Show the edges with most success and traversal.
// mode: read
// params: none
// returns: scope, from, type, to, success, traversal, recency, cost, cycle (at most 50 rows)
MATCH (a)-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->(b)
WHERE r.pheromone_cycle IS NOT NULL AND r.ebbTrailReason IS NULL
WITH a, r, b, coalesce(toFloatOrNull(r.success_pheromone), 0.0) + coalesce(toFloatOrNull(r.traversal_pheromone), 0.0) AS heat
WHERE 0.0 <= heat <= 1e12
ORDER BY heat DESC, elementId(r)
LIMIT 50
RETURN coalesce(a.scope, 'local') AS scope, CASE WHEN a:Entity THEN a.name ELSE a.id END AS from, type(r) AS type, CASE WHEN b:Entity THEN b.name ELSE b.id END AS to,
  r.success_pheromone AS success, r.traversal_pheromone AS traversal, r.recency_pheromone AS recency,
  r.current_cost AS cost, r.pheromone_cycle AS cycle
