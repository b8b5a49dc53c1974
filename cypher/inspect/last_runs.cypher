// Last runs: the latest runs of jobs and their results
// purpose: Show the latest runs of jobs.
// mode: read
// params: none
// returns: job, now, state, scanned, changed, expired, promoted, quarantined, started, finished (at most 25 rows)
MATCH (r:EbbRun)
RETURN r.job AS job, r.now AS now, r.state AS state, r.scanned AS scanned, r.changed AS changed,
  r.expired AS expired, r.promoted AS promoted, r.quarantined AS quarantined, r.started AS started, r.finished AS finished
ORDER BY started DESC, now DESC, job
LIMIT 25
