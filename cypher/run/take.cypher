// purpose: Take over an open run; from here on its former holder commits nothing.
// mode: write
// params: $job: String, $occurrence: String, $holder: String, $leaseMs: Integer
// returns: fence: Integer, batch: Integer, runId: String, now: Integer (one row; none if it is no longer open)
// bound: one key
// idempotent: by the state
// law: domain::attempt::step
// clock: server
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
SET r.lock = true
WITH r, datetime.realtime().epochMillis AS serverNow
WHERE r.state = 'open'
SET r.fence = r.fence + 1, r.holder = $holder, r.leaseUntil = serverNow + $leaseMs
RETURN r.fence AS fence, r.batch AS batch, r.id AS runId, r.now.epochMillis AS now
