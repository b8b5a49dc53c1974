// purpose: Write the number of outcomes that a scope has learned.
// mode: write
// params: $name: String, $tick: Integer
// returns: advanced: Integer (one row)
// bound: one key
// idempotent: by the tick
MATCH (c:EbbCounter {name: $name})
SET c.tick = $tick
RETURN count(c) AS advanced
