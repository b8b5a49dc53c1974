// purpose: End a transaction of a restore with its receipt: the number of its batch, the number of rows that were created, and whether it was the last one.
// mode: write
// params: $batch: Integer, $created: Integer, $isLoaded: Boolean
// returns: batch: Integer (one row)
// bound: one key
// idempotent: by the number of the batch
MATCH (m:EbbMigration {version: 'restore'})
SET m.batch = $batch, m.created = $created, m.isLoaded = $isLoaded
RETURN m.batch AS batch
