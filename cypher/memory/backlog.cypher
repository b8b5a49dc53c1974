// purpose: Say since when the longest-waiting due and the longest-waiting ripe memory wait, and whether any is claimed.
// mode: read
// params: none
// returns: due: Integer, ripe: Integer, claimed: Boolean (epoch milliseconds or null; one row)
//
// The range, from the year 1 on, leaves out values that are no instants: one that somebody wrote by hand must not stop
// every run.
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.dueAt >= datetime({epochMillis: -62135596800000}) AND NOT m:EbbQuarantined
  RETURN m.dueAt AS due ORDER BY due LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.ripeAt >= datetime({epochMillis: -62135596800000}) AND NOT m:EbbQuarantined
  RETURN m.ripeAt AS ripe ORDER BY ripe LIMIT 1
}
RETURN due.epochMillis AS due, ripe.epochMillis AS ripe, EXISTS { ()-[:CONSOLIDATING]->() } AS claimed
