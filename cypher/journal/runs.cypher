// purpose: List the runs that have a journal, latest first.
// mode: read
// params: $limit: Integer
// returns: run: String, job: String, at: Integer, recorded: Integer, by: String, changes: Integer (at most $limit rows)
MATCH (j:EbbJournal)
USING INDEX SEEK j:EbbJournal(recorded)
WHERE j.run IS :: STRING NOT NULL AND j.changes IS :: INTEGER NOT NULL
  AND datetime({epochMillis: -62135596800000}) <= j.at < datetime({epochMillis: 253402300800000})
  AND datetime({epochMillis: -62135596800000}) <= j.recorded < datetime({epochMillis: 253402300800000})
WITH j.run AS run, min(toStringOrNull(j.job)) AS job, min(toStringOrNull(j.by)) AS by, max(j.at.epochMillis) AS at,
  max(j.recorded.epochMillis) AS recorded, sum(j.changes) AS changes
ORDER BY recorded DESC, run
LIMIT $limit
RETURN run, coalesce(job, '') AS job, at, recorded, coalesce(by, '') AS by, changes
