// purpose: Bring facts that were asserted ahead of the clock back to now.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the date
//
// The latest of a lineage is its head: one from a future that never was would stay it for ever. ebbMoved keeps what the date was.
MATCH (f:Fact)
WHERE datetime({epochMillis: $latest}) < f.assertedAt < datetime({epochMillis: 253402300800000}) AND NOT f:EbbQuarantined
WITH f LIMIT $limit
SET f.ebbLock = true
WITH f, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest
WHERE f.assertedAt > latest
SET f.ebbMoved = 'assertedAt ' + toString(f.assertedAt), f.assertedAt = now,
  f.originAt = CASE WHEN f.originAt > latest THEN now ELSE f.originAt END
RETURN count(f) AS rewound
