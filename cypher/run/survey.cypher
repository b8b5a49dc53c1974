// purpose: Say what a worker looks at each second: last occurrences, open runs, what somebody has to see to.
// mode: read
// params: $rows.job: List, $holder: String, $overdueMs: Integer
// returns: serverNow: Integer, jobs: List, quarantined: Integer, stuck: Integer (one row)
// clock: server
//
// Of each job: its name, the last occurrence on schedule, and of an open run the occurrence, whether it is held by
// $holder, whether anybody may take it, and for how long that has been so. An attempt is stuck when its lease has been
// over for longer than any worker that runs would have left it.
WITH datetime.realtime().epochMillis AS serverNow
CALL (serverNow) {
  UNWIND range(0, size($rows.job) - 1) AS place
  OPTIONAL MATCH (c:EbbCounter {name: 'job:' + $rows.job[place]})
  OPTIONAL MATCH (r:EbbRun {state: 'open'})
  WHERE r.job = $rows.job[place]
  RETURN collect({
    job: $rows.job[place],
    last: c.last.epochMillis,
    open: r.occurrence,
    ours: coalesce(r.holder = $holder, false),
    free: r.holder IS NULL OR coalesce(r.leaseUntil, 0) <= serverNow,
    overMs: coalesce(serverNow - r.leaseUntil, 0)
  }) AS jobs
}
CALL () {
  MATCH (q:EbbQuarantined)
  RETURN count(q) AS quarantined
}
CALL (serverNow) {
  MATCH (a:ConsolidationAttempt)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil + $overdueMs <= serverNow
  RETURN count(a) AS stuck
}
RETURN serverNow, jobs, quarantined, stuck
