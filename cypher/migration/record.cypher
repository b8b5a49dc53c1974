// purpose: Record that a migration was applied.
// mode: write
// params: $version: String, $name: String, $checksum: String, $at: Integer
// returns: recorded: Integer (one row)
// bound: one key
// idempotent: by the unique version
MERGE (m:EbbMigration {version: $version})
ON CREATE SET m.name = $name, m.checksum = $checksum, m.applied = datetime({epochMillis: $at})
RETURN count(m) AS recorded
