// purpose: Find the oldest requested sweep that is not being run.
// mode: read
// params: none
// returns: id: String, now: Integer (one row, or none)
MATCH (j:EbbSweepJob)
WHERE j.state = 'pending' AND NOT EXISTS { MATCH (:EbbRun {job: 'sweep', occurrence: 'job/' + j.id}) }
RETURN j.id AS id, j.now.epochMillis AS now
ORDER BY j.id
LIMIT 1
