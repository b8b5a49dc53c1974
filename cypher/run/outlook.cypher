// purpose: Say what a run must know before it begins: the tunables, since when the longest-waiting memory or session waits for each job, what is new, and whether there are attempts or claims.
// mode: read
// params: none
// returns: names: List, values: List, due: Integer, ripe: Integer, coactivate: Integer, cluster: Integer, reinforce: Integer, memories: Integer, stamped: Integer, attempts: Boolean (instants in epoch milliseconds or null; names null without tunables; one row)
//
// One statement, since an idle run costs little more than its requests. The tunables are as in config/read; memories and
// stamped come from the count store.
//
// The range, from the year 1 on, leaves out values that are no instants: one that somebody wrote by hand must not stop
// every run.
CALL () {
  OPTIONAL MATCH (c:ConsolidationConfig {name: 'default'})
  WITH c, [key IN keys(c) WHERE key <> 'name'] AS names
  RETURN names,
    [key IN names | CASE WHEN c[key] IS :: FLOAT OR c[key] IS :: INTEGER THEN toFloat(c[key]) END] AS values
}
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
CALL () {
  OPTIONAL MATCH (s:Session)
  WHERE s.coactivateDue >= datetime({epochMillis: -62135596800000})
  RETURN s.coactivateDue AS coactivate ORDER BY coactivate LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.clusterDue >= datetime({epochMillis: -62135596800000})
  RETURN m.clusterDue AS cluster ORDER BY cluster LIMIT 1
}
CALL () {
  OPTIONAL MATCH (m:Memory)
  WHERE m.reinforceDue >= datetime({epochMillis: -62135596800000}) AND NOT m:EbbQuarantined
  RETURN m.reinforceDue AS reinforce ORDER BY reinforce LIMIT 1
}
CALL () { MATCH (m:Memory) RETURN count(m) AS memories }
CALL () { MATCH (s:EbbStamped) RETURN count(s) AS stamped }
RETURN names, values, due.epochMillis AS due, ripe.epochMillis AS ripe, coactivate.epochMillis AS coactivate,
  cluster.epochMillis AS cluster, reinforce.epochMillis AS reinforce, memories, stamped,
  EXISTS { ()-[:CONSOLIDATING]->() }
    OR EXISTS { MATCH (a:ConsolidationAttempt) WHERE a.state IN ['planned', 'claimed'] } AS attempts
