// purpose: Remove words of changes of more than a day ago: a mirror that has not looked for so long starts anew.
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
