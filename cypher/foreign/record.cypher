// purpose: Record how many rows of a label an adoption pass left to their writers.
// mode: write
// params: $name: String, $rows: Integer
// returns: rows: Integer (one row)
// bound: one key
// idempotent: by writing a state
MERGE (c:EbbCounter {name: $name})
SET c.rows = $rows
RETURN c.rows AS rows
