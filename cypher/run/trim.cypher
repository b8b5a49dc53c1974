// purpose: Remove runs that were over long enough ago.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// The last run of a schedule is kept apart, on the counter of its job: no occurrence comes due anew.
MATCH (r:EbbRun)
WHERE r.state IN ['done', 'guarded', 'failed'] AND r.finished < datetime.realtime() - duration({milliseconds: $keptMs})
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS trimmed
