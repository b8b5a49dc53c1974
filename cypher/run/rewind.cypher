// purpose: Bring what the ledger says of the future back to now: the last run of a job, signs of life of mirrors, and leases.
// mode: write
// params: $now: Integer, $latest: Integer, $cycle: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit of each kind
// idempotent: by the values
//
// No job comes due before its last run, trails are brought to no cycle before the last, nobody migrates beside a mirror that
// lives, and nobody takes a lease that lasts; whoever takes a run up goes on at its instant. No lease lasts a day; its holder, if there is one, is fenced off by whoever takes it.
// In a scratch database, whose time is simulated, leases and signs of life are of another clock.
CALL () {
  MATCH (c:EbbCounter)
  WHERE c.last > datetime({epochMillis: $latest}) OR (c.name = 'cycle' AND c.evaporated > $cycle)
    OR (c.seen > datetime({epochMillis: $latest}) AND NOT EXISTS { MATCH (:EbbScratch) })
  WITH c LIMIT $limit
  SET c.ebbLock = true
  WITH c, datetime({epochMillis: $latest}) AS latest
  SET c.ebbMoved = coalesce('last ' + CASE WHEN c.last > latest THEN toString(c.last) END,
      'evaporated ' + CASE WHEN c.name = 'cycle' THEN toString(c.evaporated) END, 'seen ' + toString(c.seen)),
    c.last = CASE WHEN c.last > latest THEN datetime({epochMillis: $now}) ELSE c.last END,
    c.evaporated = CASE WHEN c.name = 'cycle' AND c.evaporated > $cycle THEN $cycle ELSE c.evaporated END,
    c.seen = CASE WHEN c.seen > latest THEN datetime({epochMillis: $now}) ELSE c.seen END
  RETURN count(c) AS counters
}
CALL () {
  MATCH (r:EbbRun)
  WHERE r.state = 'open' AND (r.now > datetime({epochMillis: $latest})
    OR (r.leaseUntil > $latest + 86400000 AND NOT EXISTS { MATCH (:EbbScratch) }))
  WITH r LIMIT $limit
  SET r.leaseUntil = CASE WHEN r.leaseUntil > $latest + 86400000 THEN $now ELSE r.leaseUntil END,
    r.now = CASE WHEN r.now > datetime({epochMillis: $latest}) THEN datetime({epochMillis: $now}) ELSE r.now END
  RETURN count(r) AS runs
}
CALL () {
  MATCH (a:ConsolidationAttempt)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil > $latest + 86400000 AND NOT EXISTS { MATCH (:EbbScratch) }
  WITH a LIMIT $limit
  SET a.leaseUntil = $now
  RETURN count(a) AS attempts
}
RETURN counters + runs + attempts AS rewound
