// Hot trails as a picture: the edges that are walked most, with their places
// purpose: Draw the edges with most success and traversal.
// mode: read
// params: none
// returns: trail (at most 100 rows)
MATCH trail = (a)-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->(b)
WHERE r.pheromone_cycle IS NOT NULL AND r.ebbTrailReason IS NULL
WITH trail, r, coalesce(toFloatOrNull(r.success_pheromone), 0.0) + coalesce(toFloatOrNull(r.traversal_pheromone), 0.0) AS heat
WHERE 0.0 <= heat <= 1e12
ORDER BY heat DESC, elementId(r)
LIMIT 100
RETURN trail
