// Tiers: the strongest memories of each live tier, by the energy that each had at energyAt
// purpose: Show the ten strongest memories of each live tier by stored energy.
// mode: read
// params: none
// returns: scope, tier, energy, energyAt, id, content, lastAccessed (at most 10 rows of each tier)
UNWIND ['longTerm', 'shortTerm', 'working'] AS tier
CALL (tier) {
  MATCH (m:Memory {tier: tier})
  USING INDEX SEEK m:Memory(tier)
  WHERE m:EbbMemory AND NOT m:EbbQuarantined AND 0.0 <= m.energy <= 1e12
  RETURN m ORDER BY m.energy DESC, m.id LIMIT 10
}
RETURN m.scope AS scope, tier, m.energy AS energy, m.energyAt AS energyAt, m.id AS id, left(toStringOrNull(m.content), 90) AS content, m.lastAccessed AS lastAccessed
