// purpose: Bring pheromones of edges of a type from a future cycle back to the present one.
// mode: write
// params: $cycle: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the cycle
// names: :HALL
//
// As for places.
MATCH ()-[r:HALL]->()
USING INDEX SEEK r:HALL(pheromone_cycle)
WHERE r.pheromone_cycle > $cycle
WITH r LIMIT $limit
SET r.ebbLock = true
WITH r
WHERE r.pheromone_cycle > $cycle
SET r.ebbMoved = 'pheromone_cycle ' + toString(r.pheromone_cycle), r.pheromone_cycle = $cycle
RETURN count(r) AS rewound
