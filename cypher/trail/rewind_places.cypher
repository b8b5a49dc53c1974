// purpose: Bring what lies on places of a label as of a cycle that has not come to the present one.
// mode: write
// params: $cycle: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the cycle
// names: :Room
//
// What lies there evaporates from now on. ebbMoved keeps what the cycle was.
MATCH (n:Room)
WHERE n.pheromone_cycle > $cycle
WITH n LIMIT $limit
SET n.ebbLock = true
WITH n
WHERE n.pheromone_cycle > $cycle
SET n.ebbMoved = 'pheromone_cycle ' + toString(n.pheromone_cycle), n.pheromone_cycle = $cycle
RETURN count(n) AS rewound
