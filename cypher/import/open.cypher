// purpose: Begin or resume the import of a file; the last process to open it holds it.
// mode: write
// params: $key: String, $name: String, $holder: String
// returns: lines: Integer, digest: String, at: Integer (one row)
// bound: one key
// idempotent: by the unique key
MERGE (i:EbbImport {key: $key})
ON CREATE SET i.name = $name, i.lines = 0, i.digest = ''
SET i.lock = $holder
RETURN i.lines AS lines, i.digest AS digest, i.at.epochMillis AS at
