// Expired: the memories that expired last; nothing is deleted, and the next access revives them
// purpose: Show the memories that expired last.
// mode: read
// params: none
// returns: expiredAt, id, content, accesses, lastAccessed (at most 25 rows)
MATCH (m:Memory {tier: 'expiredWorking'})
USING INDEX SEEK m:Memory(tier)
RETURN m.lastExpired AS expiredAt, m.id AS id, left(toStringOrNull(m.content), 90) AS content, m.accessCount AS accesses, m.lastAccessed AS lastAccessed
ORDER BY expiredAt DESC, id
LIMIT 25
