// purpose: Write one value, to see whether the server takes writes.
// mode: write
// params: none
// returns: written: Integer (one row)
// bound: one key
// idempotent: by the unique name
//
// Another value each time, since one that is there already is not written; committed, since only a commit meets a full disk.
MERGE (c:EbbCounter {name: 'probe'})
SET c.turn = CASE WHEN c.turn = true THEN false ELSE true END
RETURN count(c) AS written
