// purpose: List the memories that an attempt holds.
// mode: read
// params: $id: String, $limit: Integer
// returns: id: String, tier: String (at most $limit rows)
MATCH (m:Memory)-[:CONSOLIDATING]->(a:ConsolidationAttempt {id: $id})
USING INDEX SEEK a:ConsolidationAttempt(id)
RETURN toStringOrNull(m.id) AS id, toStringOrNull(m.tier) AS tier
ORDER BY id
LIMIT $limit
