// purpose: Delete a page of nodes of Ebb's own.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by their absence
MATCH (n:EbbRun|EbbRequest|EbbChange|EbbCounter|EbbLineage|EbbPolicy|EbbSweepJob|EbbSynapse|EbbKey|EbbTombstone|EbbImport|EbbMigration|EbbScratch|EbbSettings|EbbState|EbbJournal|EbbVersion|EbbErasure|ConsolidationAttempt|ConsolidationConfig)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS rows
