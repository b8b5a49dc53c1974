// purpose: List the last runs, newest first, of one job or of all.
// mode: read
// params: $job: String, $limit: Integer
// returns: a row a run (at most $limit)
MATCH (r:EbbRun)
WHERE $job IS NULL OR r.job = $job
RETURN r.job AS job, r.occurrence AS occurrence, r.id AS runId, r.trigger AS trigger, r.state AS state,
  r.now.epochMillis AS now, r.started.epochMillis AS started, r.finished.epochMillis AS finished,
  r.holder AS holder, coalesce(r.truncated, false) AS truncated, r.reason AS reason,
  properties(r) AS did
ORDER BY r.started DESC, r.now DESC, r.job
LIMIT $limit
