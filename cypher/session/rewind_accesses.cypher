// purpose: Bring accesses in sessions with dates ahead of the clock back to now.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the date
//
// The latest accesses of a large session are the ones that count, and the later of two is kept. ebbMoved keeps the
// former date.
MATCH (:EbbMemory)-[a:ACCESSED_IN]->(:Session)
WHERE a.at > datetime({epochMillis: $latest})
WITH a LIMIT $limit
SET a.ebbLock = true
WITH a
WHERE a.at > datetime({epochMillis: $latest})
SET a.ebbMoved = 'at ' + toString(a.at), a.at = datetime({epochMillis: $now})
RETURN count(a) AS rewound
