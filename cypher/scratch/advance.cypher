// purpose: Record the simulated time that a scratch database has reached.
// mode: write
// params: $now: Integer
// returns: now: Integer (one row)
// bound: one key
// idempotent: by keeping the later of two instants
MATCH (s:EbbScratch {name: 'scratch'})
SET s.now = CASE WHEN s.now > datetime({epochMillis: $now}) THEN s.now ELSE datetime({epochMillis: $now}) END
RETURN s.now.epochMillis AS now
