// purpose: List open runs with the time left of their leases.
// mode: read
// params: none
// returns: job, occurrence, holder, fence, batch, started, leaseLeft (a row a run, at most 100)
// clock: server
//
// leaseLeft is in milliseconds, by the server's clock.
MATCH (r:EbbRun)
USING INDEX SEEK r:EbbRun(state)
WHERE r.state = 'open' AND r.occurrence IS :: STRING NOT NULL AND r.job IS :: STRING NOT NULL
RETURN r.job AS job, r.occurrence AS occurrence, toStringOrNull(r.holder) AS holder,
  CASE WHEN r.fence IS :: INTEGER NOT NULL THEN r.fence ELSE 0 END AS fence, CASE WHEN r.batch IS :: INTEGER NOT NULL THEN r.batch ELSE 0 END AS batch,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.started < datetime({epochMillis: 253402300800000}) THEN r.started.epochMillis END AS started,
  CASE WHEN 0 <= r.leaseUntil <= 253402300800000 THEN toInteger(r.leaseUntil) END - datetime.realtime().epochMillis AS leaseLeft
ORDER BY started, job
LIMIT 100
