// purpose: Record the threshold by which clusters are formed from now on.
// mode: write
// params: $threshold: Float
// returns: threshold: Float (one row)
// bound: one key
// idempotent: by writing a state
MERGE (c:EbbCounter {name: 'progress:cluster'})
SET c.threshold = $threshold
RETURN c.threshold AS threshold
