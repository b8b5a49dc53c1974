// purpose: End a transaction of an import with its receipt: the lines done and their hash.
// mode: write
// params: $key: String, $lines: Integer, $digest: String
// returns: lines: Integer (one row)
// bound: one key
// idempotent: by the number of lines
MATCH (i:EbbImport {key: $key})
SET i.lines = $lines, i.digest = $digest
RETURN i.lines AS lines
