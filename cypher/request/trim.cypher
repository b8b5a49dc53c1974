// purpose: Remove requests after their retention, after which a repeat counts as new.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// A request with an outcome that is not yet learned is kept until it is, however long that takes. One whose change is kept, as in
// change/trim, stays as that.
MATCH (r:EbbRequest)
USING INDEX SEEK r:EbbRequest(at)
WHERE r.at < datetime.realtime() - duration({milliseconds: $keptMs}) AND r.waits IS NULL
WITH r LIMIT $limit
WITH r, r:EbbChange AS stays
FOREACH (_ IN CASE WHEN stays THEN [1] ELSE [] END |
  REMOVE r:EbbRequest, r.id, r.hash, r.seed, r.answer)
FOREACH (_ IN CASE WHEN stays THEN [] ELSE [1] END | DELETE r)
RETURN count(*) AS trimmed
