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
RETURN serverNow, job, c.last.epochMillis AS last, r.occurrence AS open, coalesce(r.holder = $holder, false) AS ours,
  r.holder IS NULL OR coalesce(r.leaseUntil, 0) <= serverNow AS free, coalesce(serverNow - r.leaseUntil, 0) AS overMs
