// purpose: Lock a job, so that only one program decides its holder, and read its open run and one occurrence.
// mode: write
// params: $job: String, $occurrence: String, $holder: String
// returns: serverNow: Integer, occurrence: String, state: String, holder: String, leaseUntil: Integer, open: Boolean (one or two rows; without a run all but serverNow are null)
// bound: one key
// idempotent: by the unique name
// clock: server
//
// A run whose occurrence is not text cannot be taken, and holds up no other. The server's clock and the runs are read after
// the lock is held: the statement's own instant is older than its wait. Every transaction that has this lock is short, so one
// that has it for seconds is that of a program that is gone. $holder is the one that waits, by which server/blockers finds it.
MERGE (c:EbbCounter {name: 'job:' + $job})
SET c.lock = $holder IS NOT NULL
WITH datetime.realtime().epochMillis AS serverNow
OPTIONAL MATCH (r:EbbRun {job: $job})
WHERE r.state = 'open' OR r.occurrence = $occurrence
RETURN serverNow, CASE WHEN r.occurrence IS :: STRING THEN r.occurrence END AS occurrence, toStringOrNull(r.state) AS state, toStringOrNull(r.holder) AS holder,
  CASE WHEN 0 <= r.leaseUntil <= 253402300800000 THEN toInteger(r.leaseUntil) END AS leaseUntil,
  coalesce(r.state = 'open' AND r.occurrence IS :: STRING NOT NULL, false) AS open
ORDER BY open DESC, coalesce(r.occurrence = $occurrence, false) DESC
LIMIT 2
