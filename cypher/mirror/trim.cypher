// purpose: Remove what processes said of their mirrors more than a day ago: they were killed, and nobody took it away.
// mode: write
// params: $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
MATCH (c:EbbCounter)
WHERE c.name STARTS WITH 'mirror:' AND c.seen < datetime.realtime() - duration({hours: 24})
WITH c LIMIT $limit
DELETE c
RETURN count(*) AS trimmed
