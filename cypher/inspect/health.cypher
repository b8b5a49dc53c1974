// Health: number of memories in each tier, and their current energy
// purpose: Count memories by tier with the average, greatest and least of their current energy.
// mode: read
// params: none
// returns: tier, memories, averageEnergy, maxEnergy, minEnergy (a row a tier)
// clock: server
OPTIONAL MATCH (scratch:EbbScratch {name: 'scratch'})
WITH coalesce(scratch.now, datetime()) AS now
MATCH (config:ConsolidationConfig {name: 'default'})
MATCH (m:Memory)
WHERE m.tier IS NOT NULL AND NOT m:EbbQuarantined AND 0.0 <= m.energy <= 1e12
  AND datetime({epochMillis: -62135596800000}) <= m.energyAt < datetime({epochMillis: 253402300800000}) AND datetime({epochMillis: -62135596800000}) <= m.lastAccessed < datetime({epochMillis: 253402300800000})
WITH m, now, CASE WHEN m.pinned = true THEN 0.0 ELSE
  CASE m.tier WHEN 'working' THEN config.workingDecay WHEN 'shortTerm' THEN config.shortTermDecay WHEN 'longTerm' THEN config.longTermDecay ELSE 0.0 END END AS rate,
  CASE WHEN m.lastAccessed > m.energyAt THEN m.lastAccessed ELSE m.energyAt END AS anchor
WITH m, m.energy * exp(-(rate * CASE WHEN now > anchor THEN (now.epochMillis - anchor.epochMillis) / 3600000.0 ELSE 0.0 END)) AS energy
RETURN m.tier AS tier, count(*) AS memories, avg(energy) AS averageEnergy, max(energy) AS maxEnergy, min(energy) AS minEnergy
ORDER BY memories DESC
