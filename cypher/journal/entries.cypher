// purpose: Read a page of the journal of a run, latest first.
// mode: read
// params: $run: String, $skip: Integer, $limit: Integer
// returns: job: String, at: Integer, entries: List (a row for each node)
MATCH (j:EbbJournal {run: $run})
USING INDEX SEEK j:EbbJournal(run)
WITH j
ORDER BY j.recorded DESC, j.part DESC
SKIP $skip LIMIT $limit
RETURN coalesce(toStringOrNull(j.job), '') AS job,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= j.at < datetime({epochMillis: 253402300800000}) THEN j.at.epochMillis ELSE 0 END AS at,
  CASE WHEN j.entries IS :: LIST<STRING NOT NULL> NOT NULL THEN j.entries ELSE [] END AS entries
