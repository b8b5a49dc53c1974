// Quarantine: rows that no law can use, set aside with the reason and their values as they are
// purpose: Show rows that were set aside.
// mode: read
// params: none
// returns: id, reason, tier, energy, lastAccessed (at most 100 rows)
MATCH (m:EbbQuarantined)
RETURN coalesce(toString(m.id), elementId(m)) AS id, m.ebbReason AS reason, m.tier AS tier, m.energy AS energy, m.lastAccessed AS lastAccessed
ORDER BY reason, id
LIMIT 100
