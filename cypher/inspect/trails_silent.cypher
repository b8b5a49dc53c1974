// Silent trails: edges that were walked and have no pheromone left
// purpose: Show edges whose pheromones have all evaporated.
// mode: read
// params: none
// returns: scope, from, type, to, cost (at most 50 rows)
MATCH (a)-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->(b)
WHERE r.success_pheromone IS NOT NULL AND r.pheromone_cycle IS NULL AND r.ebbTrailReason IS NULL
WITH coalesce(a.scope, 'local') AS scope, CASE WHEN a:Entity THEN a.name ELSE a.id END AS from, type(r) AS type, CASE WHEN b:Entity THEN b.name ELSE b.id END AS to, r.current_cost AS cost
ORDER BY scope, from, type, to
LIMIT 50
RETURN scope, from, type, to, cost
