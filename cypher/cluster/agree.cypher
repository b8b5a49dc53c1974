// purpose: Record by which threshold the clusters are settled from here on.
// mode: write
// params: $threshold: Float
// returns: threshold: Float (one row)
// bound: one key
// idempotent: by writing a state
MATCH (c:EbbCounter {name: 'job:cluster'})
SET c.threshold = $threshold
RETURN c.threshold AS threshold
