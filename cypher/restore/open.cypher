// purpose: Begin or take over a restore: mark the database as incomplete, unless another process has done so since it was looked at.
// mode: write
// params: $holder: String, $seen: String, $checksum: String, $isAnew: Boolean
// returns: opened: Integer (one row; 0 if another process was faster)
// bound: one key
// idempotent: by the unique version
//
// $seen is the holder of the marker when it was looked at, null if there was none. A marker of $holder is of an earlier try, which
// was committed. With $isAnew its progress is forgotten, but not that all rows are there: those without a mark would stay.
// The marker stands in the ledger of migrations, where no version of Ebb knows it: each refuses such a database.
OPTIONAL MATCH (old:EbbMigration {version: 'restore'})
WITH count(old) = 0 AS isNone, count(CASE WHEN old.lock = $holder THEN 1 END) > 0 AS isOwn
WHERE isOwn OR isNone = ($seen IS NULL)
MERGE (m:EbbMigration {version: 'restore'})
  ON CREATE SET m.lock = $holder
SET m.ebbLock = true
WITH m
WHERE (m.lock = $holder OR m.lock = $seen) AND NOT ($isAnew AND coalesce(m.isLoaded, false))
SET m.lock = $holder, m.checksum = $checksum
FOREACH (_ IN CASE WHEN $isAnew THEN [1] ELSE [] END | SET m.batch = 0, m.created = 0, m.isLoaded = false)
RETURN count(m) AS opened
