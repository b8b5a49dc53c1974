// purpose: Take over an open run, so that its former holder can no longer commit.
// mode: write
// params: $job: String, $occurrence: String, $holder: String, $own: String, $anyLease: Boolean, $leaseMs: Integer
// returns: fence: Integer, batch: Integer, runId: String, now: Integer (one row; none if it is no longer open, or its lease was renewed)
// bound: one key
// idempotent: by the state
// law: domain::attempt::step
// clock: server
//
// The lease is checked under the lock: the transaction that this one waited for may have renewed it. $own is the holder whose
// lease does not count, empty for none; $anyLease is for the only program on a scratch database.
MATCH (r:EbbRun {job: $job, occurrence: $occurrence})
USING INDEX SEEK r:EbbRun(job, occurrence)
SET r.lock = true
WITH r, datetime.realtime().epochMillis AS serverNow
WHERE r.state = 'open' AND ($anyLease OR coalesce(toStringOrNull(r.holder), '') IN ['', $own]
  OR coalesce(CASE WHEN 0 <= r.leaseUntil <= 253402300800000 THEN toInteger(r.leaseUntil) END, 0) <= serverNow)
SET r.fence = CASE WHEN 0 <= r.fence <= 1000000000000 THEN toInteger(r.fence) ELSE 0 END,
  r.batch = CASE WHEN 0 <= r.batch <= 1000000000000 THEN toInteger(r.batch) ELSE 0 END,
  r.now = CASE WHEN datetime({epochMillis: -62135596800000}) <= r.now < datetime({epochMillis: 253402300800000}) THEN r.now ELSE datetime({epochMillis: serverNow}) END
SET r.fence = r.fence + 1, r.holder = $holder, r.leaseUntil = serverNow + $leaseMs
RETURN r.fence AS fence, r.batch AS batch, coalesce(toStringOrNull(r.id), r.occurrence) AS runId, r.now.epochMillis AS now
