// purpose: Begin a transaction of a run: lock it until commit, check the holder, and renew the lease.
// mode: write
// params: $job: String, $occurrence: String, $fence: Integer, $holder: String, $leaseMs: Integer
// returns: batch: Integer, did: Map (one row; none if the run was lost)
// bound: one key
// idempotent: by fence and holder
// law: domain::attempt::step
// clock: server
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
USING INDEX SEEK r:EbbRun(job, occurrence)
SET r.lock = true
WITH r, datetime.realtime().epochMillis AS serverNow
WHERE r.state = 'open' AND r.fence = $fence AND r.holder = $holder
SET r.leaseUntil = serverNow + $leaseMs
RETURN r.batch AS batch, properties(r) AS did
