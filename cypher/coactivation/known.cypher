// purpose: Record the number of counted accesses after a scan of all sessions.
// mode: write
// params: $accesses: Integer
// returns: accesses: Integer (one row)
// bound: one key
// idempotent: by writing a state
MATCH (c:EbbCounter {name: 'job:coactivate'})
SET c.accesses = $accesses
RETURN c.accesses AS accesses
