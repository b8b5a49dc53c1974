// purpose: Count the rows whose anchors are ahead of the clock, and list some.
// mode: read
// params: $latest: Integer, $lease: Integer, $cycle: Integer
// returns: memories: Integer, relations: Integer, facts: Integer, places: Integer, edges: Integer, sessions: Integer, accesses: Integer, pairs: Integer, ledger: Integer, named: List (one row)
// names: :Room, :HALL
//
// Dates of memories and facts have no index, so this reads every one of them; it runs only on request. A date is ahead
// as in the statements that bring it back: memory/rewind, session/rewind, run/rewind and so on.
CALL () {
  MATCH (m:EbbMemory)
  WHERE NOT m:EbbQuarantined AND m.promotionKey IS NULL
    AND (any(at IN [m.energyAt, m.lastAccessed, m.ripeAt, m.created, m.clusterDue] WHERE at > datetime({epochMillis: $latest}))
      OR any(at IN [m.reinforceDue, m.embedDue] WHERE at > datetime({epochMillis: $latest + 86400000})))
  RETURN count(m) AS memories, collect(toStringOrNull(m.id))[0..5] AS ids
}
CALL () {
  MATCH (a)-[r:RELATES_TO]->(b)
  WHERE r.ebbKey IS NOT NULL AND r.ebbReason IS NULL
    AND (datetime({epochMillis: $latest}) < r.weightAt < datetime({epochMillis: 253402300800000})
      OR datetime({epochMillis: $latest}) < r.lastObserved < datetime({epochMillis: 253402300800000}))
  RETURN count(r) AS relations, collect(toStringOrNull(r.ebbKey))[0..5] AS keys
}
CALL () {
  MATCH (f:EbbFact)
  WHERE (datetime({epochMillis: $latest}) < f.assertedAt < datetime({epochMillis: 253402300800000})
      OR datetime({epochMillis: $latest}) < f.originAt < datetime({epochMillis: 253402300800000}))
    AND NOT f:EbbQuarantined
  RETURN count(f) AS facts, collect(toStringOrNull(f.id))[0..5] AS said
}
CALL () {
  MATCH (n:Room)
  WHERE n.pheromone_cycle > $cycle
  RETURN count(n) AS places, collect(toStringOrNull(coalesce(n.id, n.name)))[0..5] AS at
}
CALL () {
  MATCH ()-[r:HALL]->()
  WHERE r.pheromone_cycle > $cycle
  RETURN count(r) AS edges
}
CALL () {
  MATCH (s:Session)
  WHERE coalesce(s.coactivated, s.coactivateDue) IS NOT NULL
    AND any(at IN [s.started, s.ended, s.coactivateDue] WHERE at > datetime({epochMillis: $latest}))
  RETURN count(s) AS sessions, collect(toStringOrNull(s.id))[0..5] AS named
}
CALL () {
  MATCH (:EbbMemory)-[a:ACCESSED_IN]->(:Session)
  WHERE a.at > datetime({epochMillis: $latest})
  RETURN count(a) AS accesses
}
CALL () {
  MATCH (a)-[c:COACTIVATED]->()
  WHERE (c.firstCoactivation > datetime({epochMillis: $latest}) OR c.lastCoactivation > datetime({epochMillis: $latest}))
    AND (a:EbbMemory OR a:File AND a.repository IS NOT NULL)
  RETURN count(c) AS pairs
}
CALL () {
  MATCH (c:EbbCounter)
  WHERE CASE WHEN c.name = 'cycle' THEN c.evaporated > $cycle
      WHEN c.seen IS :: ZONED DATETIME NOT NULL THEN c.seen.epochMillis > $lease
      ELSE c.last > datetime({epochMillis: $latest})
    END
  RETURN count(c) AS counters, collect(toStringOrNull(c.name))[0..5] AS names
}
CALL () {
  MATCH (r:EbbRun)
  WHERE r.state = 'open' AND (r.now > datetime({epochMillis: $latest}) OR r.leaseUntil > $lease)
  RETURN count(r) AS runs
}
CALL () {
  MATCH (a:ConsolidationAttempt)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil > $lease
  RETURN count(a) AS attempts
}
RETURN memories, relations, facts, places, edges, sessions, accesses, pairs, counters + runs + attempts AS ledger,
  (ids + keys + said + at + named + names)[0..5] AS named
