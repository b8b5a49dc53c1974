// purpose: Mark an empty database as one whose time may be simulated.
// mode: write
// params: $holder: String
// returns: marked: Integer (one row)
// bound: one key
// idempotent: by the unique name
MERGE (s:EbbScratch {name: 'scratch'})
SET s.lock = $holder
RETURN count(s) AS marked
