// purpose: Remove requested sweeps whose runs were trimmed.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
MATCH (j:EbbSweepJob)
USING INDEX SEEK j:EbbSweepJob(state)
WHERE j.state IN ['running', 'done', 'failed'] AND NOT EXISTS { MATCH (same:EbbRun {job: 'sweep', occurrence: 'job/' + j.id}) USING INDEX SEEK same:EbbRun(job, occurrence) }
WITH j LIMIT $limit
DELETE j
RETURN count(*) AS trimmed
