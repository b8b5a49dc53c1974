// purpose: Remove requests of more than a day ago: a repeat of one would count as new.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
MATCH (r:EbbRequest)
WHERE r.at < datetime.realtime() - duration({hours: 24})
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS trimmed
