// purpose: Release an unfinished run, for another holder at once, or as failed.
// mode: write
// params: $job: String, $occurrence: String, $holder: String, $state: String, $reason: String
// returns: left: Boolean (one row; none if it is not open, or not the holder's)
// bound: one key
// idempotent: by the holder
// clock: server
//
// One that is left to others is without a holder from now on.
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
USING INDEX SEEK r:EbbRun(job, occurrence)
SET r.lock = true
WITH r
WHERE r.state = 'open' AND r.holder = $holder
SET r.state = $state, r.holder = null, r.reason = $reason,
  r.leaseUntil = CASE $state WHEN 'open' THEN datetime.realtime().epochMillis END,
  r.finished = CASE $state WHEN 'open' THEN null ELSE datetime.realtime() END
RETURN true AS left
