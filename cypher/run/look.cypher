// purpose: Show the open run of a job and the record of one occurrence.
// mode: read
// params: $job: String, $occurrence: String
// returns: occurrence: String, state: String, holder: String, leaseUntil: Integer, open: Boolean (at most two rows)
MATCH (r:EbbRun {job: $job})
WHERE r.state = 'open' OR r.occurrence = $occurrence
RETURN r.occurrence AS occurrence, r.state AS state, r.holder AS holder, r.leaseUntil AS leaseUntil,
  r.state = 'open' AS open
ORDER BY open DESC
LIMIT 2
