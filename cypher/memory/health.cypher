// purpose: Count memories by tier with the average, least and greatest of their energy at an instant.
// mode: read
// params: $now: Integer, $workingDecay: Float, $shortTermDecay: Float, $longTermDecay: Float
// returns: tier: String, count: Integer, avgEnergy: Float, minEnergy: Float, maxEnergy: Float (a row a tier)
MATCH (m:Memory)
WHERE m.tier IS :: STRING NOT NULL AND NOT m:EbbQuarantined
WITH m.tier AS tier, CASE WHEN 0.0 <= m.energy <= 1e12 THEN toFloat(m.energy) END AS energy,
  CASE WHEN m.pinned = true THEN 0.0 ELSE CASE m.tier
    WHEN 'working' THEN $workingDecay WHEN 'shortTerm' THEN $shortTermDecay WHEN 'longTerm' THEN $longTermDecay ELSE 0.0
  END END AS rate,
  coalesce(
    CASE WHEN m.lastAccessed > m.energyAt THEN m.lastAccessed ELSE m.energyAt END,
    m.lastAccessed, m.created, datetime({epochMillis: $now})) AS anchor
WITH tier, energy, rate,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= anchor < datetime({epochMillis: $now}) THEN ($now - anchor.epochMillis) / 3600000.0 ELSE 0.0 END AS hours
WITH tier, energy * exp(-(rate * hours)) AS energy
RETURN tier, count(*) AS count, avg(energy) AS avgEnergy, min(energy) AS minEnergy, max(energy) AS maxEnergy
ORDER BY tier
