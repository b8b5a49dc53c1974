// purpose: Read the last run of each job, whatever started it.
// mode: read
// params: $rows.job: List
// returns: job: String, occurrence: String, trigger: String, state: String, started: Integer, finished: Integer, reason: String (a row for each job that ever ran and whose last run is not trimmed)
UNWIND $rows.job AS job
MATCH (c:EbbCounter {name: 'job:' + job})
MATCH (r:EbbRun {job: job, occurrence: c.latest})
USING INDEX SEEK r:EbbRun(job, occurrence)
WHERE r.trigger IS :: STRING NOT NULL AND r.state IS :: STRING NOT NULL
RETURN job, r.occurrence AS occurrence, r.trigger AS trigger, r.state AS state,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.started < datetime({epochMillis: 253402300800000}) THEN r.started.epochMillis END AS started, CASE WHEN datetime({epochMillis: -62135596800000}) <= r.finished < datetime({epochMillis: 253402300800000}) THEN r.finished.epochMillis END AS finished,
  toStringOrNull(r.reason) AS reason
