// purpose: Bring future dates of the ledger back to now: the last run of a job, heartbeats of mirrors, and leases.
// mode: write
// params: $now: Integer, $latest: Integer, $lease: Integer, $cycle: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit of each kind
// idempotent: by the values
//
// No job is due before its last run, trails are brought to no cycle before the last, no migration runs beside a live
// mirror, and no lease is taken before it expires; a process that resumes a run continues at its instant. Leases and
// heartbeats are by the server's clock and count as ahead from $lease on; their holder, if there is any, is fenced off
// when the lease is taken.
CALL () {
  MATCH (c:EbbCounter)
  WHERE CASE WHEN c.name = 'cycle' THEN c.evaporated > $cycle
      WHEN c.seen IS :: ZONED DATETIME NOT NULL THEN c.seen.epochMillis > $lease
      ELSE c.last > datetime({epochMillis: $latest})
    END
  WITH c LIMIT $limit
  SET c.ebbMoved = CASE WHEN c.name = 'cycle' THEN 'evaporated ' + toString(c.evaporated)
      WHEN c.seen IS NOT NULL THEN 'seen ' + toString(c.seen) ELSE 'last ' + toString(c.last) END,
    c.evaporated = CASE WHEN c.name = 'cycle' THEN $cycle END,
    c.last = CASE WHEN c.last IS NOT NULL THEN datetime({epochMillis: $now}) END,
    c.seen = CASE WHEN c.seen IS NOT NULL THEN datetime({epochMillis: $now}) END
  RETURN count(c) AS counters
}
CALL () {
  MATCH (r:EbbRun)
  WHERE r.state = 'open' AND (r.now > datetime({epochMillis: $latest}) OR r.leaseUntil > $lease)
  WITH r LIMIT $limit
  SET r.leaseUntil = CASE WHEN r.leaseUntil > $lease THEN $now ELSE r.leaseUntil END,
    r.now = CASE WHEN r.now > datetime({epochMillis: $latest}) THEN datetime({epochMillis: $now}) ELSE r.now END
  RETURN count(r) AS runs
}
CALL () {
  MATCH (a:ConsolidationAttempt)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil > $lease
  WITH a LIMIT $limit
  SET a.leaseUntil = $now
  RETURN count(a) AS attempts
}
RETURN counters + runs + attempts AS rewound
