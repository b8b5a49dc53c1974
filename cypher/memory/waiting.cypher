// purpose: Count what waits at an instant: due for a sweep, ripe for promotion, set aside.
// mode: read
// params: $now: Integer
// returns: due: Integer, ripe: Integer, quarantined: Integer (one row)
CALL () {
  MATCH (m:Memory)
  WHERE m.dueAt <= datetime({epochMillis: $now}) AND m.energyAt < datetime({epochMillis: $now}) AND NOT m:EbbQuarantined
  RETURN count(m) AS due
}
CALL () {
  MATCH (m:Memory)
  WHERE m.ripeAt <= datetime({epochMillis: $now}) AND NOT m:EbbQuarantined
  RETURN count(m) AS ripe
}
CALL () { MATCH (m:EbbQuarantined) RETURN count(m) AS quarantined }
RETURN due, ripe, quarantined
