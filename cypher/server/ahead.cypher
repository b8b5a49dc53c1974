// purpose: Count the rows whose anchors lie ahead of the clock, and name some.
// mode: read
// params: $latest: Integer, $cycle: Integer
// returns: memories: Integer, relations: Integer, facts: Integer, places: Integer, edges: Integer, named: List (one row)
// names: :Room, :HALL
//
// Dates of memories and facts have no index, so it reads every one of them; a person asks, now and then.
CALL () {
  MATCH (m:Memory)
  WHERE (m.energyAt > datetime({epochMillis: $latest}) OR m.lastAccessed > datetime({epochMillis: $latest})
      OR m.ripeAt > datetime({epochMillis: $latest}))
    AND NOT m:EbbQuarantined AND m.promotionKey IS NULL
  RETURN count(m) AS memories, collect(toStringOrNull(m.id))[0..5] AS ids
}
CALL () {
  MATCH (a)-[r:RELATES_TO]->(b)
  WHERE r.key IS NOT NULL AND r.ebbReason IS NULL
    AND (datetime({epochMillis: $latest}) < r.weightAt < datetime({epochMillis: 253402300800000})
      OR datetime({epochMillis: $latest}) < r.lastObserved < datetime({epochMillis: 253402300800000}))
  RETURN count(r) AS relations, collect(toStringOrNull(r.key))[0..5] AS keys
}
CALL () {
  MATCH (f:Fact)
  WHERE datetime({epochMillis: $latest}) < f.assertedAt < datetime({epochMillis: 253402300800000}) AND NOT f:EbbQuarantined
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
RETURN memories, relations, facts, places, edges, (ids + keys + said + at)[0..5] AS named
