// purpose: Open an attempt: it holds nothing yet.
// mode: write
// params: $id: String, $phase: String, $holder: String, $at: Integer, $leaseMs: Integer
// returns: id: String (one row)
// bound: one key
// idempotent: by the unique id
// clock: server
MERGE (a:ConsolidationAttempt {id: $id})
ON CREATE SET a.phase = $phase, a.instanceId = $holder, a.holder = $holder, a.state = 'planned',
  a.started = datetime({epochMillis: $at}), a.leaseUntil = datetime.realtime().epochMillis + $leaseMs,
  a.claimed = 0, a.applied = 0, a.conflicts = 0
RETURN a.id AS id
