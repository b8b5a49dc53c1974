// purpose: Say by which threshold the clusters were settled last.
// mode: read
// params: none
// returns: threshold: Float (one row; null before the first time)
OPTIONAL MATCH (c:EbbCounter {name: 'job:cluster'})
RETURN toFloatOrNull(c.threshold) AS threshold
