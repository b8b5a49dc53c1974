// Promotions as a picture: long-term memories, the stubs they left behind, their sessions and entities
// purpose: Draw the strongest long-term memories with what is around them.
// mode: read
// params: none
// returns: path (at most 60 rows)
MATCH (m:Memory {tier: 'longTerm'})
WITH m ORDER BY m.energy DESC, m.id LIMIT 6
MATCH path = (m)-[:PROMOTED_TO|CRYSTALLIZED_INTO|ACCESSED_IN|MENTIONS]-()
RETURN path
LIMIT 60
