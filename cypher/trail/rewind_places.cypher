// purpose: Bring pheromones of places of a label from a future cycle back to the present one.
// mode: write
// params: $cycle: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the cycle
// names: :Room
//
// They evaporate from now on. ebbMoved keeps the former cycle.
MATCH (n:Room)
USING INDEX SEEK n:Room(pheromone_cycle)
WHERE n.pheromone_cycle > $cycle
WITH n LIMIT $limit
SET n.ebbLock = true
WITH n
WHERE n.pheromone_cycle > $cycle
SET n.ebbMoved = 'pheromone_cycle ' + toString(n.pheromone_cycle), n.pheromone_cycle = $cycle
RETURN count(n) AS rewound
