// purpose: Mark an empty database as one whose time may be simulated, for one replay.
// mode: write
// params: $holder: String, $work: String
// returns: marked: Integer (one row)
// bound: one key
// idempotent: by the unique name
MERGE (s:EbbScratch {name: 'scratch'})
SET s.lock = $holder, s.work = coalesce(s.work, $work)
RETURN count(s) AS marked
