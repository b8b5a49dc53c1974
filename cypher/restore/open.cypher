// purpose: Begin a restore: mark the database as incomplete; the last process to begin one holds it.
// mode: write
// params: $holder: String, $checksum: String
// returns: opened: Integer (one row)
// bound: one key
// idempotent: by the unique version
//
// The marker stands in the ledger of migrations, where no version of Ebb knows it: each refuses such a database.
MERGE (m:EbbMigration {version: 'restore'})
SET m.lock = $holder, m.checksum = $checksum, m.batch = 0, m.created = 0, m.isLoaded = false
RETURN count(m) AS opened
