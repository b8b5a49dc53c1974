// purpose: Read the threshold by which clusters were last formed.
// mode: read
// params: none
// returns: threshold: Float (one row; null before the first time)
OPTIONAL MATCH (c:EbbCounter {name: 'progress:cluster'})
RETURN toFloatOrNull(c.threshold) AS threshold
