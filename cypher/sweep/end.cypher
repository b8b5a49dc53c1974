// purpose: End a sweep with its final state and its response.
// mode: write
// params: $id: String, $state: String, $reason: String, $answered: String, $rows.applied: List
// returns: state: String (one row)
// bound: one key
// idempotent: by the state
MATCH (j:EbbSweepJob {id: $id})
USING INDEX SEEK j:EbbSweepJob(id)
SET j.state = $state, j.reason = $reason, j.answered = $answered, j.applied = $rows.applied
RETURN j.state AS state
