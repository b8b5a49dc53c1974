// purpose: List the edges of a type and scope with the most success and traversal left at $cycle.
// mode: read
// params: $scope: String, $cycle: Integer, $least: Integer, $limit: Integer, $success: Float, $traversal: Float, $floor: Float, $rows.label: List
// returns: fromLabel, from, toLabel, to, type, success, traversal, recency, cycle, base, similarity, edgeFault (at most $limit rows)
// law: domain::trail::heat
// names: :HALL
//
// $least is below any cycle: the index of cycles lists all edges with pheromone left. Edges of equal heat are ordered by what
// their own scope wrote.
MATCH (a)-[r:HALL]->(b)
USING INDEX SEEK r:HALL(pheromone_cycle)
WHERE r.pheromone_cycle > $least
  AND coalesce(a.scope, 'local') = $scope AND coalesce(b.scope, 'local') = $scope AND r.ebbTrailReason IS NULL
WITH a, r, b, CASE WHEN -1000000000000000 <= r.pheromone_cycle < $cycle THEN $cycle - r.pheromone_cycle ELSE 0 END AS gone
WITH a, r, b, gone,
  coalesce(toFloatOrNull(r.success_pheromone), 0.0) * (1.0 - $success) ^ gone AS success,
  coalesce(toFloatOrNull(r.traversal_pheromone), 0.0) * (1.0 - $traversal) ^ gone AS traversal
WITH a, r, b,
  CASE WHEN gone > 0 AND success < $floor THEN 0.0 ELSE success END
    + CASE WHEN gone > 0 AND traversal < $floor THEN 0.0 ELSE traversal END AS heat
WHERE heat > 0.0
WITH r, heat,
  head([label IN labels(a) WHERE label IN $rows.label]) AS fromLabel, toStringOrNull(CASE WHEN a:Entity THEN a.name ELSE a.id END) AS from,
  head([label IN labels(b) WHERE label IN $rows.label]) AS toLabel, toStringOrNull(CASE WHEN b:Entity THEN b.name ELSE b.id END) AS to
ORDER BY heat DESC, fromLabel, from, toLabel, to, r.pheromone_cycle, r.success_pheromone, r.traversal_pheromone, r.recency_pheromone, r.base_cost, r.similarity
LIMIT $limit
RETURN fromLabel, from, toLabel, to, type(r) AS type,
  CASE WHEN r.success_pheromone IS :: FLOAT OR r.success_pheromone IS :: INTEGER THEN toFloat(r.success_pheromone) END AS success,
  CASE WHEN r.traversal_pheromone IS :: FLOAT OR r.traversal_pheromone IS :: INTEGER THEN toFloat(r.traversal_pheromone) END AS traversal,
  CASE WHEN r.recency_pheromone IS :: FLOAT OR r.recency_pheromone IS :: INTEGER THEN toFloat(r.recency_pheromone) END AS recency,
  CASE WHEN r.pheromone_cycle IS :: INTEGER THEN r.pheromone_cycle END AS cycle,
  CASE WHEN r.base_cost IS :: FLOAT OR r.base_cost IS :: INTEGER THEN toFloat(r.base_cost) END AS base,
  CASE WHEN r.similarity IS :: FLOAT OR r.similarity IS :: INTEGER THEN toFloat(r.similarity) END AS similarity,
  CASE WHEN r.ebbTrailReason IS NOT NULL THEN toStringOrNull(r.ebbTrailReason)
    WHEN NOT r.success_pheromone IS :: FLOAT AND NOT r.success_pheromone IS :: INTEGER THEN 'success_pheromone is not a number'
    WHEN NOT r.traversal_pheromone IS :: FLOAT AND NOT r.traversal_pheromone IS :: INTEGER THEN 'traversal_pheromone is not a number'
    WHEN NOT r.recency_pheromone IS :: FLOAT AND NOT r.recency_pheromone IS :: INTEGER THEN 'recency_pheromone is not a number'
    WHEN NOT r.base_cost IS :: FLOAT AND NOT r.base_cost IS :: INTEGER THEN 'base_cost is not a number'
    WHEN NOT r.pheromone_cycle IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= r.pheromone_cycle <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
  END AS edgeFault
