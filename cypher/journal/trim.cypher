// purpose: Remove entries of the journal that are too old to be taken back.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
MATCH (j:EbbJournal)
USING INDEX SEEK j:EbbJournal(recorded)
WHERE j.recorded < datetime.realtime() - duration({milliseconds: $keptMs})
WITH j LIMIT $limit
DELETE j
RETURN count(*) AS trimmed
