// purpose: Record the progress and the results of a sweep, in the transaction that made them.
// mode: write
// params: $id: String, $cursor: String, $live: Integer, $evaluated: Integer, $retracted: Integer, $reduced: Integer, $wouldRetract: Integer, $wouldReduce: Integer, $rows.matched: List
// returns: cursor: String (one row)
// bound: one key
// idempotent: by the receipt of its transaction, and by the cursor
MATCH (j:EbbSweepJob {id: $id})
USING INDEX SEEK j:EbbSweepJob(id)
SET j.state = 'running', j.cursor = $cursor, j.live = $live, j.evaluated = $evaluated,
  j.retracted = $retracted, j.reduced = $reduced, j.wouldRetract = $wouldRetract, j.wouldReduce = $wouldReduce,
  j.matched = $rows.matched
RETURN j.cursor AS cursor
