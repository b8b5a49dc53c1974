// purpose: End a restore: the database is complete.
// mode: write
// params: none
// returns: closed: Integer (one row)
// bound: one key
// idempotent: by its absence
MATCH (m:EbbMigration {version: 'restore'})
DELETE m
RETURN count(*) AS closed
