// purpose: End a transaction of an import with its receipt: the lines done, their hash, and the instant of their last event.
// mode: write
// params: $key: String, $lines: Integer, $digest: String, $at: Integer
// returns: lines: Integer (one row)
// bound: one key
// idempotent: by the number of lines
MATCH (i:EbbImport {key: $key})
USING INDEX SEEK i:EbbImport(key)
SET i.lines = $lines, i.digest = $digest,
  i.at = CASE WHEN $at IS NULL THEN i.at ELSE datetime({epochMillis: $at}) END
RETURN i.lines AS lines
