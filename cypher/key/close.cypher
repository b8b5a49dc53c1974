// purpose: Mark permanently that an API key has existed, and lock the mark.
// mode: write
// params: none
// returns: marked: Integer (one row)
// bound: one node
// idempotent: by the unique name
//
// A transaction that creates a key holds this lock, so that keys are counted one after another.
MERGE (c:EbbCounter {name: 'keys'})
SET c.lock = true
RETURN count(c) AS marked
