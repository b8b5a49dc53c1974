// Promotions as a picture: the strongest long-term memories, their stubs, and the entities they mention
// purpose: Draw the strongest long-term memories with their promotions and the entities they mention.
// mode: read
// params: none
// returns: path (at most 80 rows)
MATCH (m:Memory {tier: 'longTerm'})
USING INDEX SEEK m:Memory(tier)
WHERE NOT m:EbbQuarantined AND 0.0 <= m.energy <= 1e12
WITH m ORDER BY m.energy DESC, m.id LIMIT 12
MATCH path = (m)-[:PROMOTED_TO|CRYSTALLIZED_INTO|MENTIONS]-()
RETURN path
LIMIT 80
