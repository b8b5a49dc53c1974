// purpose: Remove mirror statuses older than a day, whose processes were killed before they could remove them.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
MATCH (c:EbbCounter)
USING INDEX SEEK c:EbbCounter(name)
WHERE c.name STARTS WITH 'mirror:' AND c.seen < datetime.realtime() - duration({hours: 24})
WITH c LIMIT $limit
DELETE c
RETURN count(*) AS trimmed
