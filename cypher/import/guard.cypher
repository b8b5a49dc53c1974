// purpose: Begin a transaction of an import: lock it until commit, check the holder and read the progress.
// mode: write
// params: $key: String, $holder: String
// returns: lines: Integer (one row; none if another program has opened it since)
// bound: one key
// idempotent: by the number of lines
MATCH (i:EbbImport {key: $key})
USING INDEX SEEK i:EbbImport(key)
SET i.ebbLock = true
WITH i
WHERE i.lock = $holder
RETURN i.lines AS lines
