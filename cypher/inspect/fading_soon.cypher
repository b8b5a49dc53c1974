// Fading soon: working memories that expire within the next two hours unless they are used
// purpose: Show working memories by the instant at which their energy falls below the expiry threshold.
// mode: read
// params: none
// returns: scope, id, content, energy, expiresAt (at most 25 rows)
// clock: server
//
// One that lasts for more than a thousand years is left out: dates end.
OPTIONAL MATCH (scratch:EbbScratch {name: 'scratch'})
WITH coalesce(scratch.now, datetime()) AS now
MATCH (config:ConsolidationConfig {name: 'default'})
MATCH (m:Memory {tier: 'working'})
USING INDEX SEEK m:Memory(tier)
WHERE NOT coalesce(m.pinned = true, false) AND m.ripeAt IS NULL AND NOT m:EbbQuarantined AND 0.0 < m.energy <= 1e12
  AND datetime({epochMillis: -62135596800000}) <= m.energyAt < datetime({epochMillis: 253402300800000}) AND datetime({epochMillis: -62135596800000}) <= m.lastAccessed < datetime({epochMillis: 253402300800000})
WITH m, now, CASE WHEN m.lastAccessed > m.energyAt THEN m.lastAccessed ELSE m.energyAt END AS anchor, config
WITH m, now, anchor, CASE WHEN config.expiryThreshold > 0.0 AND config.workingDecay > 0.0 THEN log(m.energy / config.expiryThreshold) / config.workingDecay END AS hours
WHERE hours <= 8784000.0
WITH m, now, datetime({epochMillis: anchor.epochMillis + toInteger(hours * 3600000.0)}) AS expiresAt
WHERE expiresAt < now + duration('PT2H')
RETURN m.scope AS scope, m.id AS id, left(toStringOrNull(m.content), 90) AS content, m.energy AS energy, expiresAt
ORDER BY expiresAt, id
LIMIT 25
