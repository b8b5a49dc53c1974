// purpose: List the applied migrations.
// mode: read
// params: none
// returns: version: String, checksum: String (a row a migration)
MATCH (m:EbbMigration)
RETURN m.version AS version, m.checksum AS checksum
ORDER BY version
