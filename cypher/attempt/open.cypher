// purpose: Open an attempt that holds nothing yet.
// mode: write
// params: $id: String, $phase: String, $holder: String, $at: Integer, $leaseMs: Integer
// returns: state: String, claimed: Integer (one row; a state other than planned is that of one opened before)
// bound: one key
// idempotent: by the unique id
// clock: server
MERGE (a:ConsolidationAttempt {id: $id})
ON CREATE SET a.phase = $phase, a.instanceId = $holder, a.holder = $holder, a.state = 'planned',
  a.started = datetime({epochMillis: $at}), a.leaseUntil = datetime.realtime().epochMillis + $leaseMs,
  a.claimed = 0, a.applied = 0, a.conflicts = 0
RETURN a.state AS state, coalesce(a.claimed, 0) AS claimed
