// purpose: Read the marker of a restore that has not ended.
// mode: read
// params: none
// returns: holder: String, checksum: String, isLoaded: Boolean, created: Integer (at most one row)
MATCH (m:EbbMigration {version: 'restore'})
RETURN coalesce(m.lock, '') AS holder, m.checksum AS checksum, coalesce(m.isLoaded, false) AS isLoaded, coalesce(m.created, 0) AS created
