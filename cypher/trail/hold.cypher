// purpose: Lock the counter of cycles, created if there is none, and read it.
// mode: write
// params: $epoch: Integer, $lengthMs: Integer
// returns: epoch: Integer, lengthMs: Integer, advances: Integer, evaporated: Integer (one row; null what is no such value)
// bound: one key
// idempotent: by the unique name
MERGE (c:EbbCounter {name: 'cycle'})
ON CREATE SET c.epoch = datetime({epochMillis: $epoch}), c.lengthMs = $lengthMs, c.advances = 0
SET c.lock = true
RETURN CASE WHEN datetime({epochMillis: -62135596800000}) <= c.epoch < datetime({epochMillis: 253402300800000}) THEN c.epoch.epochMillis END AS epoch,
  CASE WHEN c.lengthMs IS :: INTEGER THEN c.lengthMs END AS lengthMs,
  CASE WHEN c.advances IS :: INTEGER THEN c.advances END AS advances,
  CASE WHEN c.evaporated IS :: INTEGER THEN c.evaporated END AS evaporated
