// purpose: Lock the counter of cycles, made if there is none, and read it.
// mode: write
// params: $epoch: Integer, $lengthMs: Integer
// returns: epoch: Integer, lengthMs: Integer, advances: Integer, evaporated: Integer (one row; null what is no such value)
// bound: one key
// idempotent: by the unique name
MERGE (c:EbbCounter {name: 'cycle'})
ON CREATE SET c.epoch = datetime({epochMillis: $epoch}), c.lengthMs = $lengthMs, c.advances = 0
SET c.lock = true
RETURN CASE WHEN datetime('0001-01-01T00Z') <= c.epoch < datetime('+10000-01-01T00Z') THEN c.epoch.epochMillis END AS epoch,
  CASE WHEN c.lengthMs IS :: INTEGER THEN c.lengthMs END AS lengthMs,
  CASE WHEN c.advances IS :: INTEGER THEN c.advances END AS advances,
  CASE WHEN c.evaporated IS :: INTEGER THEN c.evaporated END AS evaporated
