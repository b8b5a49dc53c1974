// purpose: Remove change records older than a day: a mirror that has not refreshed for so long reloads.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
MATCH (c:EbbChange)
WHERE c.at < datetime.realtime() - duration({hours: 24})
WITH c LIMIT $limit
DELETE c
RETURN count(*) AS trimmed
