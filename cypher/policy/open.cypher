// purpose: Lock the policies of the graph, which are in force from now on.
// mode: write
// params: none
// returns: version: Integer (one row; 1 the first time)
// bound: one key
// idempotent: by the receipt of its transaction
MERGE (c:EbbCounter {name: 'policies'})
SET c.lock = true
SET c.version = coalesce(c.version, 0) + 1
RETURN c.version AS version
