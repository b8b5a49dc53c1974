// purpose: Read the state that a worker polls each second: the last occurrence and the open run of each job.
// mode: read
// params: $rows.job: List, $holder: String
// returns: serverNow: Integer, scratch: Boolean, job: String, last: Integer, schedule: String, since: Integer, open: String, ours: Boolean, free: Boolean, overMs: Integer (a row for each job)
// clock: server
//
// scratch is whether the time of the database is simulated; last is the last scheduled occurrence; schedule is the one that a worker recorded last, and since the instant since
// which it applies, if another one did before; for an open run: its
// occurrence, whether $holder holds it, whether it is free to take, and for how long it has been so. It is the first query to a server that has just restarted, whose planning
// time grows with the length of a query: nothing belongs here that can wait.
OPTIONAL MATCH (s:EbbScratch {name: 'scratch'})
WITH datetime.realtime().epochMillis AS serverNow, s IS NOT NULL AS scratch
UNWIND $rows.job AS job
OPTIONAL MATCH (c:EbbCounter {name: 'job:' + job})
OPTIONAL MATCH (r:EbbRun {state: 'open'})
USING INDEX SEEK r:EbbRun(state)
WHERE r.job = job AND r.occurrence IS :: STRING NOT NULL
WITH serverNow, scratch, job, c, r, CASE WHEN 0 <= r.leaseUntil <= 253402300800000 THEN toInteger(r.leaseUntil) END AS leaseUntil
RETURN serverNow, scratch, job, CASE WHEN datetime({epochMillis: -62135596800000}) <= c.last < datetime({epochMillis: 253402300800000}) THEN c.last.epochMillis END AS last,
  toStringOrNull(c.schedule) AS schedule, CASE WHEN datetime({epochMillis: -62135596800000}) <= c.since < datetime({epochMillis: 253402300800000}) THEN c.since.epochMillis END AS since,
  r.occurrence AS open, coalesce(r.holder = $holder, false) AS ours,
  r.holder IS NULL OR coalesce(leaseUntil, 0) <= serverNow AS free, coalesce(serverNow - leaseUntil, 0) AS overMs
