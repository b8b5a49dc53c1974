// purpose: Read a page of the journal of a run, latest first.
// mode: read
// params: $run: String, $skip: Integer, $limit: Integer
// returns: job: String, at: Integer, entries: List (a row for each node)
MATCH (j:EbbJournal {run: $run})
WHERE j.entries IS :: LIST<STRING NOT NULL> NOT NULL AND j.job IS :: STRING NOT NULL
  AND datetime({epochMillis: -62135596800000}) <= j.at < datetime({epochMillis: 253402300800000})
WITH j
ORDER BY j.recorded DESC, j.part DESC
SKIP $skip LIMIT $limit
RETURN j.job AS job, j.at.epochMillis AS at, j.entries AS entries
