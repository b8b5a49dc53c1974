// Expired: the memories that expired last; nothing is deleted, and the next access revives them
// purpose: Show the memories that expired last.
// mode: read
// params: none
// returns: scope, expiredAt, id, content, accesses, lastAccessed (at most 25 rows)
//
// One that another writer expired may have no instant of it: then the instant of its energy or of its last access counts.
MATCH (m:Memory {tier: 'expiredWorking'})
USING INDEX SEEK m:Memory(tier)
WHERE NOT m:EbbQuarantined
WITH m, head([at IN [m.lastExpired, m.energyAt, m.lastAccessed]
  WHERE datetime({epochMillis: -62135596800000}) <= at < datetime({epochMillis: 253402300800000})]) AS expiredAt
RETURN m.scope AS scope, expiredAt, m.id AS id, left(toStringOrNull(m.content), 90) AS content, m.accessCount AS accesses, m.lastAccessed AS lastAccessed
ORDER BY expiredAt IS NULL, expiredAt DESC, id
LIMIT 25
