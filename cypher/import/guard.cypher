// purpose: Begin a transaction of an import: hold it to commit, see that it is still ours and how far it is.
// mode: write
// params: $key: String, $holder: String
// returns: lines: Integer (one row; none if another program has opened it since)
// bound: one key
// idempotent: by the number of lines
MATCH (i:EbbImport {key: $key})
SET i.ebbLock = true
WITH i
WHERE i.lock = $holder
RETURN i.lines AS lines
