// purpose: Read how cycles are counted, and the cycle to which trails were last brought.
// mode: read
// params: none
// returns: epoch: Integer, lengthMs: Integer, advances: Integer, evaporated: Integer (none before the first use; null what is no such value)
MATCH (c:EbbCounter {name: 'cycle'})
RETURN CASE WHEN datetime({epochMillis: -62135596800000}) <= c.epoch < datetime({epochMillis: 253402300800000}) THEN c.epoch.epochMillis END AS epoch,
  CASE WHEN c.lengthMs IS :: INTEGER THEN c.lengthMs END AS lengthMs,
  CASE WHEN c.advances IS :: INTEGER THEN c.advances END AS advances,
  CASE WHEN c.evaporated IS :: INTEGER THEN c.evaporated END AS evaporated
