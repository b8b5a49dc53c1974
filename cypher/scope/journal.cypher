// purpose: Remove the entries of a scope from a page of the journal.
// mode: write
// params: $named: String, $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// An entry is JSON and concerns one scope: $named is the field with it, which no value can contain, since quotes are
// escaped there.
MATCH (j:EbbJournal)
WHERE j.entries IS :: LIST<STRING NOT NULL> NOT NULL AND any(entry IN j.entries WHERE entry CONTAINS $named)
WITH j LIMIT $limit
WITH j, [entry IN j.entries WHERE NOT entry CONTAINS $named] AS others
SET j.entries = others, j.changes = size(others)
FOREACH (_ IN CASE WHEN size(others) = 0 THEN [1] ELSE [] END | DELETE j)
RETURN count(*) AS rows
