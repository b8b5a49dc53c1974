// purpose: Read since when the oldest memory or session waits for each job, and count work without a due date.
// mode: read
// params: none
// returns: due: Integer, ripe: Integer, coactivate: Integer, cluster: Integer, embed: Integer, reinforce: Integer (epoch milliseconds or null), outcomes: Boolean, relations: Integer, facts: Integer (one row)
//
// The range, from the year 1 on, excludes values that are no instants: one that was written by hand must not stop every
// run.
CALL () {
  OPTIONAL MATCH (m:Memory)
  USING INDEX SEEK m:Memory(dueAt)
  WHERE m.dueAt >= datetime({epochMillis: -62135596800000}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN m.dueAt AS due ORDER BY due LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  USING INDEX SEEK m:Memory(ripeAt)
  WHERE m.ripeAt >= datetime({epochMillis: -62135596800000}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN m.ripeAt AS ripe ORDER BY ripe LIMIT 1
}
CALL () {
  OPTIONAL MATCH (s:Session)
  USING INDEX SEEK s:Session(coactivateDue)
  WHERE s.coactivateDue >= datetime({epochMillis: -62135596800000}) AND NOT s:EbbQuarantined
  RETURN s.coactivateDue AS coactivate ORDER BY coactivate LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  USING INDEX SEEK m:Memory(clusterDue)
  WHERE m.clusterDue >= datetime({epochMillis: -62135596800000}) AND m:EbbMemory
  RETURN m.clusterDue AS cluster ORDER BY cluster LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  USING INDEX SEEK m:Memory(embedDue)
  WHERE m.embedDue >= datetime({epochMillis: -62135596800000}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN m.embedDue AS embed ORDER BY embed LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  USING INDEX SEEK m:Memory(reinforceDue)
  WHERE m.reinforceDue >= datetime({epochMillis: -62135596800000}) AND m:EbbMemory AND NOT m:EbbQuarantined
  RETURN m.reinforceDue AS reinforce ORDER BY reinforce LIMIT 1
}
CALL () {
  OPTIONAL MATCH (r:EbbRequest)
  USING INDEX SEEK r:EbbRequest(waits, at, id)
  WHERE r.waits > '' AND r.at IS NOT NULL AND r.id IS NOT NULL
  RETURN r IS NOT NULL AS outcomes LIMIT 1
}
CALL () { MATCH ()-[r:RELATES_TO]->() RETURN count(r) AS relations }
CALL () { MATCH (f:Fact) RETURN count(f) AS facts }
RETURN due.epochMillis AS due, ripe.epochMillis AS ripe, coactivate.epochMillis AS coactivate,
  cluster.epochMillis AS cluster, embed.epochMillis AS embed, reinforce.epochMillis AS reinforce, outcomes, relations, facts
