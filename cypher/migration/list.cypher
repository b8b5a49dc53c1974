// purpose: List the applied migrations.
// mode: read
// params: none
// returns: version: String, checksum: String, applied: Integer (a row a migration)
MATCH (m:EbbMigration)
RETURN m.version AS version, m.checksum AS checksum,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= m.applied < datetime({epochMillis: 253402300800000}) THEN m.applied.epochMillis END AS applied
ORDER BY version
