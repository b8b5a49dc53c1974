// purpose: Remove runs that ended long enough ago.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// The last run of a schedule is stored apart, on the counter of its job, so that no occurrence is due again.
MATCH (r:EbbRun)
USING INDEX SEEK r:EbbRun(state)
WHERE r.state IN ['done', 'guarded', 'failed'] AND r.finished < datetime.realtime() - duration({milliseconds: $keptMs})
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS trimmed
