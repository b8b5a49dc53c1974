// purpose: Check which of these memories were forgotten on request.
// mode: read
// params: $rows.hash: List
// returns: hash: String (a row for each that was)
UNWIND $rows.hash AS hash
MATCH (t:EbbTombstone {hash: hash})
RETURN t.hash AS hash
