// purpose: List the last runs, newest first, of one job or of all.
// mode: read
// params: $job: String, $limit: Integer
// returns: a row a run (at most $limit)
MATCH (r:EbbRun)
WHERE $job IS NULL OR r.job = $job
RETURN r.job AS job, r.occurrence AS occurrence, r.id AS runId, r.trigger AS trigger, r.state AS state,
  r.now.epochMillis AS now, r.started.epochMillis AS started, r.finished.epochMillis AS finished,
  r.holder AS holder, coalesce(r.truncated, false) AS truncated, r.reason AS reason,
  coalesce(r.scanned, 0) AS scanned, coalesce(r.changed, 0) AS changed, coalesce(r.skipped, 0) AS skipped,
  coalesce(r.quarantined, 0) AS quarantined, coalesce(r.adopted, 0) AS adopted, coalesce(r.expired, 0) AS expired,
  coalesce(r.promoted, 0) AS promoted, coalesce(r.conflicts, 0) AS conflicts,
  coalesce(r.cut, 0) AS cut, coalesce(r.formed, 0) AS formed, coalesce(r.joined, 0) AS joined, coalesce(r.left, 0) AS left,
  coalesce(r.dissolved, 0) AS dissolved, coalesce(r.reinforced, 0) AS reinforced, coalesce(r.released, 0) AS released,
  coalesce(r.trimmed, 0) AS trimmed, coalesce(r.pinned, 0) AS pinned, coalesce(r.below, 0) AS below,
  coalesce(r.silenced, 0) AS silenced,
  coalesce(r.retracted, 0) AS retracted, coalesce(r.reduced, 0) AS reduced, coalesce(r.rehearsed, 0) AS rehearsed
ORDER BY r.started DESC, r.now DESC, r.job
LIMIT $limit
