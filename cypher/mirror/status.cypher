// purpose: Show what processes hold in memory, and the age of their last refreshes.
// mode: read
// params: none
// returns: scope: String, process: String, ageMs: Integer, stale: Boolean, generation: Integer, nodes: Integer, slots: Integer, bytes: Integer, tick: Integer, learned: Integer, whole: Boolean, heldShare: Float, refreshMs: Integer, staleMs: Integer (a row for each scope of each process)
// clock: server
//
// A malformed row is left out until its process publishes again.
MATCH (c:EbbCounter)
USING INDEX SEEK c:EbbCounter(name)
WHERE c.name STARTS WITH 'mirror:' AND c.scope IS :: STRING NOT NULL AND c.process IS :: STRING NOT NULL
  AND datetime({epochMillis: -62135596800000}) <= c.seen < datetime({epochMillis: 253402300800000}) AND c.whole IS :: BOOLEAN NOT NULL
  AND all(n IN [c.generation, c.nodes, c.slots, c.bytes, coalesce(c.tick, 0), coalesce(c.learned, 0), c.refreshMs, c.staleMs] WHERE n IS :: INTEGER NOT NULL AND n >= 0)
  AND 0 <= coalesce(c.heldShare, 0) <= 1
WITH c, datetime.realtime().epochMillis - c.seen.epochMillis AS ageMs
RETURN c.scope AS scope, c.process AS process, ageMs, ageMs > c.staleMs AS stale, c.generation AS generation, c.nodes AS nodes, c.slots AS slots, c.bytes AS bytes, coalesce(c.tick, 0) AS tick, coalesce(c.learned, 0) AS learned, c.whole AS whole, toFloat(coalesce(c.heldShare, CASE WHEN c.whole THEN 1 ELSE 0 END)) AS heldShare, c.refreshMs AS refreshMs, c.staleMs AS staleMs
ORDER BY c.name
