// purpose: List runs that are not over, with what is left of their leases.
// mode: read
// params: none
// returns: job, occurrence, holder, fence, batch, started, leaseLeft (a row a run, at most 100)
// clock: server
//
// leaseLeft is in milliseconds, by the server's clock.
MATCH (r:EbbRun)
WHERE r.state = 'open'
RETURN r.job AS job, r.occurrence AS occurrence, r.holder AS holder, r.fence AS fence, r.batch AS batch,
  r.started.epochMillis AS started, r.leaseUntil - datetime.realtime().epochMillis AS leaseLeft
ORDER BY started, job
LIMIT 100
