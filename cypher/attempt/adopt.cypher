// purpose: Complete the attempt of another writer with an id, a state, a holder and a lease.
// mode: write
// params: $attempt: String, $id: String, $leaseMs: Integer
// returns: adopted: Integer (one row; none if it is gone or was adopted meanwhile)
// bound: one node
// idempotent: by the state
// law: domain::attempt::step
// clock: server
//
// From then on it is treated like an attempt of Ebb: it is respected while its lease lasts, and is ended by its writer
// or by reap.
MATCH (a:ConsolidationAttempt)
WHERE elementId(a) = $attempt
SET a.lock = true
WITH a, datetime.realtime() AS serverNow
WHERE NOT coalesce(a.id IS :: STRING NOT NULL AND (a.state IN ['done', 'aborted', 'expired'] OR a.state IN ['planned', 'claimed'] AND a.leaseUntil IS :: INTEGER NOT NULL), false)
SET a.id = CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE $id END,
  a.holder = CASE WHEN a.instanceId IS :: STRING NOT NULL THEN a.instanceId ELSE 'unknown' END,
  a.leaseUntil = CASE WHEN a.state IS :: STRING NOT NULL AND a.leaseUntil IS :: INTEGER NOT NULL THEN a.leaseUntil
    ELSE serverNow.epochMillis + $leaseMs END,
  a.state = CASE WHEN a.state IN ['planned', 'claimed', 'done', 'aborted', 'expired'] THEN a.state ELSE 'claimed' END,
  a.started = CASE WHEN datetime({epochMillis: -62135596800000}) <= a.started < datetime({epochMillis: 253402300800000}) THEN a.started ELSE serverNow END
RETURN 1 AS adopted
