// purpose: End a transaction of a run with its receipt: the batch number and the totals of all batches so far.
// mode: write
// params: $job: String, $occurrence: String, $batch: Integer, $did: Map
// returns: nothing
// bound: one key
// idempotent: by the number of the batch
//
// The totals come from the holder of the run, which read them in the guard: named here one by one, they took a server
// that had just restarted longer to plan than the guard.
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
USING INDEX SEEK r:EbbRun(job, occurrence)
SET r.batch = $batch, r += $did
