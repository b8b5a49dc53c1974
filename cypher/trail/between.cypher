// purpose: Lock the edges between locked places, and read the values that the laws need.
// mode: write
// params: $rows.from: List, $rows.to: List
// returns: element, from, to, type, names, success, traversal, recency, cycle, base, similarity, edgeFault (a row for each edge)
// bound: a list of pairs of places
// idempotent: by writing nothing but the lock
// names: :HALL
//
// names are the ids by which a caller may choose one of several edges.
UNWIND range(0, size($rows.from) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.from[i]
MATCH (b)
WHERE elementId(b) = $rows.to[i]
MATCH (a)-[r:HALL]->(b)
SET r.ebbLock = true
RETURN elementId(r) AS element, $rows.from[i] AS from, $rows.to[i] AS to, type(r) AS type,
  [name IN [elementId(r), toStringOrNull(r.id), toStringOrNull(r.ebbKey)] WHERE name IS NOT NULL] AS names,
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
ORDER BY element
