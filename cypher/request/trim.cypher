// purpose: Remove requests that were kept long enough: a repeat of one would count as new.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// One on which something waits to be learned stays until that is done, however long it takes.
MATCH (r:EbbRequest)
WHERE r.at < datetime.realtime() - duration({milliseconds: $keptMs}) AND r.waits IS NULL
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS trimmed
