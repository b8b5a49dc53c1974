// purpose: Read the values of places of a label that the laws need.
// mode: read
// params: $rows.scope: List, $rows.id: List
// returns: element, scope, id, exploitation, exploration, cycle, fault (a row for each place that exists)
// names: :Room, n.id
//
// A place without a scope has the scope local. A value of a wrong type comes back as null and is named by fault, so
// that no law takes it for absent.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (n:Room)
USING INDEX SEEK n:Room(id)
WHERE n.id = $rows.id[i] AND coalesce(n.scope, 'local') = $rows.scope[i]
RETURN elementId(n) AS element, $rows.scope[i] AS scope, $rows.id[i] AS id,
  CASE WHEN n.exploitation_pheromone IS :: FLOAT OR n.exploitation_pheromone IS :: INTEGER THEN toFloat(n.exploitation_pheromone) END AS exploitation,
  CASE WHEN n.exploration_pheromone IS :: FLOAT OR n.exploration_pheromone IS :: INTEGER THEN toFloat(n.exploration_pheromone) END AS exploration,
  CASE WHEN n.pheromone_cycle IS :: INTEGER THEN n.pheromone_cycle END AS cycle,
  CASE WHEN n.ebbTrailReason IS NOT NULL THEN toStringOrNull(n.ebbTrailReason)
    WHEN NOT n.exploitation_pheromone IS :: FLOAT AND NOT n.exploitation_pheromone IS :: INTEGER THEN 'exploitation_pheromone is not a number'
    WHEN NOT n.exploration_pheromone IS :: FLOAT AND NOT n.exploration_pheromone IS :: INTEGER THEN 'exploration_pheromone is not a number'
    WHEN NOT n.pheromone_cycle IS :: INTEGER THEN 'pheromone_cycle is not a whole number'
    WHEN NOT (-1000000000000000 <= n.pheromone_cycle <= 1000000000000000) THEN 'pheromone_cycle is outside -1e15 to 1e15'
  END AS fault
