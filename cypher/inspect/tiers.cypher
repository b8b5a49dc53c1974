// Tiers: the strongest memories of each live tier
// purpose: Show the ten strongest memories of each live tier.
// mode: read
// params: none
// returns: tier, energy, id, content, lastAccessed (at most 30 rows)
UNWIND ['longTerm', 'shortTerm', 'working'] AS tier
CALL (tier) {
  MATCH (m:Memory {tier: tier})
  USING INDEX SEEK m:Memory(tier)
  WHERE NOT m:EbbQuarantined
  RETURN m ORDER BY m.energy DESC, m.id LIMIT 10
}
RETURN tier, m.energy AS energy, m.id AS id, left(toStringOrNull(m.content), 90) AS content, m.lastAccessed AS lastAccessed
