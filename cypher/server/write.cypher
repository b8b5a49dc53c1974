// purpose: Write one value, to check whether the server accepts writes.
// mode: write
// params: none
// returns: written: Integer (one row)
// bound: one key
// idempotent: by the unique name
//
// The value alternates, since an unchanged one is not written, and is committed, since only a commit detects a full
// disk.
MERGE (c:EbbCounter {name: 'probe'})
SET c.turn = CASE WHEN c.turn = true THEN false ELSE true END
RETURN count(c) AS written
