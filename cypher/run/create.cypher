// purpose: Open the run of an occurrence: the latest of its job; a scheduled one becomes the last scheduled as well.
// mode: write
// params: $job: String, $occurrence: String, $runId: String, $now: Integer, $trigger: String, $holder: String, $leaseMs: Integer
// returns: fence: Integer, batch: Integer, runId: String, now: Integer (one row)
// bound: one key
// idempotent: by the unique (job, occurrence)
// clock: server
MATCH (c:EbbCounter {name: 'job:' + $job})
SET c.last = CASE WHEN $trigger = 'schedule' THEN datetime({epochMillis: $now}) ELSE c.last END, c.latest = $occurrence
CREATE (r:EbbRun {
  job: $job,
  occurrence: $occurrence,
  id: $runId,
  now: datetime({epochMillis: $now}),
  trigger: $trigger,
  state: 'open',
  fence: 1,
  batch: 0,
  holder: $holder,
  leaseUntil: datetime.realtime().epochMillis + $leaseMs,
  started: datetime.realtime()
})
RETURN r.fence AS fence, r.batch AS batch, r.id AS runId, r.now.epochMillis AS now
