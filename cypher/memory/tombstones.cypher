// purpose: Say which of these memories were forgotten on request.
// mode: read
// params: $hash: List
// returns: hash: String (a row for each that was)
UNWIND $hash AS hash
MATCH (t:EbbTombstone {hash: hash})
RETURN t.hash AS hash
