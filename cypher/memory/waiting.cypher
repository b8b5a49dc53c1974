// purpose: Count the rows that wait at an instant, for each job, and the quarantined ones.
// mode: read
// params: $now: Integer
// returns: due: Integer, ripe: Integer, sessions: Integer, clusters: Integer, embed: Integer, reinforce: Integer, outcomes: Integer, quarantined: Integer (one row)
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(dueAt)
  WHERE m.dueAt <= datetime({epochMillis: $now}) AND m.energyAt < datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN count(m) AS due
}
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(ripeAt)
  WHERE m.ripeAt <= datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN count(m) AS ripe
}
CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(coactivateDue)
  WHERE s.coactivateDue <= datetime({epochMillis: $now}) AND NOT s:EbbQuarantined
  RETURN count(s) AS sessions
}
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(clusterDue)
  WHERE m.clusterDue <= datetime({epochMillis: $now}) AND m:EbbMemory
  RETURN count(m) AS clusters
}
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(embedDue)
  WHERE m.embedDue <= datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN count(m) AS embed
}
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(reinforceDue)
  WHERE m.reinforceDue <= datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN count(m) AS reinforce
}
CALL () {
  MATCH (r:EbbRequest)
  USING INDEX SEEK r:EbbRequest(waits, at, id)
  WHERE r.waits > '' AND r.at IS NOT NULL AND r.id IS NOT NULL
  RETURN count(r) AS outcomes
}
CALL () { MATCH (m:EbbQuarantined) RETURN count(m) AS quarantined }
RETURN due, ripe, sessions, clusters, embed, reinforce, outcomes, quarantined
