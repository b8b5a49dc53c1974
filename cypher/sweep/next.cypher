// purpose: Find the oldest requested sweep that is not being run.
// mode: read
// params: none
// returns: id: String, now: Integer (one row, or none)
MATCH (j:EbbSweepJob)
USING INDEX SEEK j:EbbSweepJob(state)
WHERE j.state = 'pending' AND NOT EXISTS { MATCH (same:EbbRun {job: 'sweep', occurrence: 'job/' + j.id}) USING INDEX SEEK same:EbbRun(job, occurrence) }
RETURN j.id AS id, j.now.epochMillis AS now
ORDER BY j.id
LIMIT 1
