// purpose: End a run with its final state and its results.
// mode: write
// params: $job: String, $occurrence: String, $fence: Integer, $holder: String, $state: String, $truncated: Boolean, $reason: String
// returns: did: Map (one row; none if the run was lost)
// bound: one key
// idempotent: by the state and the fence
// law: domain::attempt::step
// clock: server
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
USING INDEX SEEK r:EbbRun(job, occurrence)
SET r.lock = true
WITH r
WHERE r.fence = $fence AND r.state IN ['open', $state] AND (r.holder = $holder OR r.state = $state)
SET r.state = $state, r.holder = null, r.leaseUntil = null, r.truncated = $truncated, r.reason = $reason,
  r.finished = coalesce(r.finished, datetime.realtime())
RETURN properties(r) AS did
