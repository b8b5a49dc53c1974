// purpose: Write how cycles are counted from now on, and the cycle to which trails were brought.
// mode: write
// params: $epoch: Integer, $lengthMs: Integer, $advances: Integer, $evaporated: Integer
// returns: turned: Integer (one row)
// bound: one key
// idempotent: by the values, worked out under its lock
MATCH (c:EbbCounter {name: 'cycle'})
SET c.epoch = datetime({epochMillis: $epoch}), c.lengthMs = $lengthMs, c.advances = $advances, c.evaporated = $evaporated
RETURN count(c) AS turned
