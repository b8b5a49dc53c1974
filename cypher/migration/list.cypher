// purpose: List the applied migrations.
// mode: read
// params: none
// returns: version: String, checksum: String, applied: Integer, isLoaded: Boolean (a row a migration; isLoaded is of the marker of a restore)
MATCH (m:EbbMigration)
RETURN m.version AS version, m.checksum AS checksum,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= m.applied < datetime({epochMillis: 253402300800000}) THEN m.applied.epochMillis END AS applied,
  coalesce(m.isLoaded = true, false) AS isLoaded
ORDER BY version
