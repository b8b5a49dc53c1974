// purpose: Record what a process holds in memory of a scope, and that it has just refreshed.
// mode: write
// params: $name: String, $scope: String, $process: String, $generation: Integer, $nodes: Integer, $slots: Integer, $bytes: Integer, $tick: Integer, $learned: Integer, $whole: Boolean, $heldShare: Float, $refreshMs: Integer, $staleMs: Integer
// returns: told: Integer (one row)
// bound: one key
// idempotent: by the unique name
// clock: server
//
// This is bookkeeping, so it records no change: otherwise every mirror would wake all others.
MERGE (c:EbbCounter {name: $name})
SET c.scope = $scope, c.process = $process, c.seen = datetime.realtime(), c.generation = $generation, c.nodes = $nodes,
  c.slots = $slots, c.bytes = $bytes, c.tick = $tick, c.learned = $learned, c.whole = $whole, c.heldShare = $heldShare, c.refreshMs = $refreshMs, c.staleMs = $staleMs
RETURN count(c) AS told
