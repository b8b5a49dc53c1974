// purpose: Begin a transaction of a restore: lock its marker until commit, and check the holder.
// mode: write
// params: $holder: String
// returns: batch: Integer, created: Integer (one row; none if another process has begun a restore since)
// bound: one key
// idempotent: by the number of the batch
MATCH (m:EbbMigration {version: 'restore'})
SET m.ebbLock = true
WITH m
WHERE m.lock = $holder
RETURN m.batch AS batch, m.created AS created
