// purpose: End a transaction of a run with its receipt: the number of the batch and what all batches did so far.
// mode: write
// params: $job: String, $occurrence: String, $batch: Integer, $did: Map
// returns: batch: Integer (one row)
// bound: one key
// idempotent: by the number of the batch
//
// The sums come from whoever holds the run since the guard, which told what they were: named here one by one, they took a
// server that has just come back longer to plan than the guard.
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
SET r.batch = $batch, r += $did
RETURN r.batch AS batch
