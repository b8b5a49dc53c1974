// purpose: Let go of the open run that a holder has of a job: free for another at once, or failed.
// mode: write
// params: $job: String, $holder: String, $state: String, $reason: String
// returns: runs: Integer (one row)
// bound: one key: a job has one open run at most
// idempotent: by the holder
// clock: server
MATCH (r:EbbRun {state: 'open'})
WHERE r.job = $job AND r.holder = $holder
SET r.lock = true
WITH r
WHERE r.state = 'open' AND r.holder = $holder
SET r.state = $state, r.holder = null, r.leaseUntil = null, r.reason = $reason,
  r.finished = CASE $state WHEN 'open' THEN null ELSE datetime.realtime() END
RETURN count(r) AS runs
