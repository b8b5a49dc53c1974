// purpose: List the last runs, newest first, of one job or of all, or the run of an occurrence or an id.
// mode: read
// params: $job: String, $occurrence: String, $run: String, $limit: Integer, $rows.count: List
// returns: a row a run (at most $limit)
//
// $rows.count names the counts of a run. A malformed run shows no counts, or is left out where it has no name.
MATCH (r:EbbRun)
USING SCAN r:EbbRun
WHERE ($job IS NULL OR r.job = $job) AND ($occurrence IS NULL OR r.occurrence = $occurrence) AND ($run IS NULL OR r.id = $run) AND r.job IS :: STRING NOT NULL AND r.occurrence IS :: STRING NOT NULL
  AND r.id IS :: STRING NOT NULL AND r.trigger IS :: STRING NOT NULL AND r.state IS :: STRING NOT NULL
RETURN r.job AS job, r.occurrence AS occurrence, r.id AS runId, r.trigger AS trigger, r.state AS state,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.now < datetime({epochMillis: 253402300800000}) THEN r.now.epochMillis END AS now, CASE WHEN datetime({epochMillis: -62135596800000}) <= r.started < datetime({epochMillis: 253402300800000}) THEN r.started.epochMillis END AS started, CASE WHEN datetime({epochMillis: -62135596800000}) <= r.finished < datetime({epochMillis: 253402300800000}) THEN r.finished.epochMillis END AS finished,
  toStringOrNull(r.holder) AS holder, coalesce(r.truncated = true, false) AS truncated, toStringOrNull(r.reason) AS reason,
  CASE WHEN all(count IN $rows.count WHERE r[count] IS :: INTEGER) THEN properties(r) ELSE {} END AS did
ORDER BY r.started DESC, r.now DESC, r.job
LIMIT $limit
