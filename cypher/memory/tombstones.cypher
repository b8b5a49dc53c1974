// purpose: Check which of these memories were forgotten on request.
// mode: read
// params: $rows.hash: List
// returns: hash: String, at: Integer (a row for each that was)
UNWIND $rows.hash AS hash
MATCH (t:EbbTombstone {hash: hash})
USING INDEX SEEK t:EbbTombstone(hash)
RETURN t.hash AS hash, CASE WHEN datetime({epochMillis: -62135596800000}) <= t.at < datetime({epochMillis: 253402300800000}) THEN t.at.epochMillis END AS at
