// Quarantine: rows that no law can use, set aside with the reason and their values as they are
// purpose: Show memories and relations that were set aside.
// mode: read
// params: none
// returns: id, reason, tier, energy, lastAccessed (at most 200 rows; for a relation, its ends and type as id)
CALL () {
  MATCH (m:EbbQuarantined)
  RETURN coalesce(toString(m.id), elementId(m)) AS id, m.ebbReason AS reason, m.tier AS tier, m.energy AS energy, m.lastAccessed AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (a)-[r:RELATES_TO]->(b)
  WHERE r.ebbReason IS NOT NULL
  RETURN coalesce(a.name, elementId(a)) + ' ' + coalesce(toStringOrNull(r.type), '?') + ' ' + coalesce(b.name, elementId(b)) AS id,
    r.ebbReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
}
RETURN id, reason, tier, energy, lastAccessed
