// purpose: Say since when the longest-waiting due and the longest-waiting ripe memory wait.
// mode: read
// params: none
// returns: due: Integer, ripe: Integer (epoch milliseconds or null; one row)
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.dueAt IS NOT NULL AND NOT m:EbbQuarantined
  RETURN m.dueAt AS due ORDER BY due LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.ripeAt IS NOT NULL AND NOT m:EbbQuarantined
  RETURN m.ripeAt AS ripe ORDER BY ripe LIMIT 1
}
RETURN due.epochMillis AS due, ripe.epochMillis AS ripe
