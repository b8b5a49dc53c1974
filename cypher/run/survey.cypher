// purpose: Say what a worker looks at each second: of each job the last occurrence and the open run.
// mode: read
// params: $rows.job: List, $holder: String
// returns: serverNow: Integer, job: String, last: Integer, open: String, ours: Boolean, free: Boolean, overMs: Integer (a row for each job)
// clock: server
//
// last is the last occurrence on schedule; of an open run: its occurrence, whether it is held by $holder, whether anybody
// may take it, and for how long that has been so. It is the first question to a server that has just come back, which
// thinks about each question by its length: nothing stands here that can wait.
WITH datetime.realtime().epochMillis AS serverNow
UNWIND $rows.job AS job
OPTIONAL MATCH (c:EbbCounter {name: 'job:' + job})
OPTIONAL MATCH (r:EbbRun {state: 'open'})
WHERE r.job = job
WITH serverNow, job, c, r, CASE WHEN 0 <= r.leaseUntil <= 253402300800000 THEN toInteger(r.leaseUntil) END AS leaseUntil
RETURN serverNow, job, CASE WHEN datetime({epochMillis: -62135596800000}) <= c.last < datetime({epochMillis: 253402300800000}) THEN c.last.epochMillis END AS last, r.occurrence AS open, coalesce(r.holder = $holder, false) AS ours,
  r.holder IS NULL OR coalesce(leaseUntil, 0) <= serverNow AS free, coalesce(serverNow - leaseUntil, 0) AS overMs
