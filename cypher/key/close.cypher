// purpose: Mark that there has been an API key, for good, and lock the mark.
// mode: write
// params: none
// returns: marked: Integer (one row)
// bound: one node
// idempotent: by the unique name
//
// Whoever makes a key holds it, so that keys are counted one after another.
MERGE (c:EbbCounter {name: 'keys'})
SET c.lock = true
RETURN count(c) AS marked
