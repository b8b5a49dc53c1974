// purpose: Read the edges around places, and their other ends in the same scope.
// mode: read
// params: $rows.element: List, $rows.label: List, $to: String, $limit: Integer
// returns: at, forward, edge, type, success, traversal, recency, cycle, base, similarity, edgeFault, element, label, id, exploitation, exploration, placeCycle, fault (at most $limit rows)
// names: :Room, :HALL
//
// $to is the only other end to read, or null. An edge is walked in both directions; forward gives its own direction.
UNWIND $rows.element AS at
MATCH (m)
WHERE elementId(m) = at
MATCH (m)-[r:HALL]-(n:Room)
WHERE coalesce(m.scope, 'local') = coalesce(n.scope, 'local') AND ($to IS NULL OR elementId(n) = $to)
WITH at, m, r, n
LIMIT $limit
RETURN at, startNode(r) = m AS forward, elementId(r) AS edge, type(r) AS type,
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
  END AS edgeFault,
  elementId(n) AS element, head([label IN labels(n) WHERE label IN $rows.label]) AS label, toStringOrNull(CASE WHEN n:Entity THEN n.name ELSE n.id END) AS id,
  CASE WHEN n.exploitation_pheromone IS :: FLOAT OR n.exploitation_pheromone IS :: INTEGER THEN toFloat(n.exploitation_pheromone) END AS exploitation,
  CASE WHEN n.exploration_pheromone IS :: FLOAT OR n.exploration_pheromone IS :: INTEGER THEN toFloat(n.exploration_pheromone) END AS exploration,
  CASE WHEN n.pheromone_cycle IS :: INTEGER THEN n.pheromone_cycle END AS placeCycle,
  CASE WHEN n.ebbTrailReason IS NOT NULL THEN toStringOrNull(n.ebbTrailReason)
    WHEN NOT n.exploitation_pheromone IS :: FLOAT AND NOT n.exploitation_pheromone IS :: INTEGER THEN 'exploitation_pheromone is not a number'
    WHEN NOT n.exploration_pheromone IS :: FLOAT AND NOT n.exploration_pheromone IS :: INTEGER THEN 'exploration_pheromone is not a number'
    WHEN NOT n.pheromone_cycle IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= n.pheromone_cycle <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
  END AS fault
