// purpose: Read a requested sweep and the state of its run.
// mode: read
// params: $id: String
// returns: id, scope, mode, policy, accepted, now, heads, state, reason, cursor, live, evaluated, retracted, reduced, wouldRetract, wouldReduce, matched, answered, applied, run, runReason (one row, or none)
MATCH (j:EbbSweepJob {id: $id})
USING INDEX SEEK j:EbbSweepJob(id)
OPTIONAL MATCH (r:EbbRun {job: 'sweep', occurrence: 'job/' + j.id})
USING INDEX SEEK r:EbbRun(job, occurrence)
RETURN j.id AS id, j.scope AS scope, j.mode AS mode, j.policy AS policy, j.accepted AS accepted, j.now.epochMillis AS now,
  j.heads AS heads, j.state AS state, j.reason AS reason, j.cursor AS cursor, j.live AS live,
  j.evaluated AS evaluated, j.retracted AS retracted, j.reduced AS reduced, j.wouldRetract AS wouldRetract,
  j.wouldReduce AS wouldReduce, j.matched AS matched, j.answered AS answered, j.applied AS applied,
  r.state AS run, r.reason AS runReason
