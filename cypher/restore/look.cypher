// purpose: Read the marker of a restore that has not ended.
// mode: read
// params: none
// returns: checksum: String, isLoaded: Boolean (at most one row)
MATCH (m:EbbMigration {version: 'restore'})
RETURN m.checksum AS checksum, coalesce(m.isLoaded, false) AS isLoaded
