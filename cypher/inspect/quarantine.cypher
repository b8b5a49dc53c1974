// Quarantine: rows that no law can use, with the reason and unchanged values
// purpose: Show memories, relations, places and edges in quarantine.
// mode: read
// params: none
// returns: scope, id, reason, tier, energy, lastAccessed (at most 100 rows of each kind; for a relation or an edge, its ends and type as id)
CALL () {
  MATCH (m:EbbQuarantined)
  RETURN m.scope AS scope, coalesce(toStringOrNull(m.id), elementId(m)) AS id, m.ebbReason AS reason, m.tier AS tier, m.energy AS energy, m.lastAccessed AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (a)-[r:RELATES_TO]->(b)
  WHERE r.ebbReason IS NOT NULL
  RETURN a.scope AS scope, coalesce(toStringOrNull(a.name), elementId(a)) + ' ' + coalesce(toStringOrNull(r.type), '?') + ' ' + coalesce(toStringOrNull(b.name), elementId(b)) AS id,
    r.ebbReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (n:Wing|Room|Closet|Drawer|Entity)
  WHERE n.ebbTrailReason IS NOT NULL
  RETURN n.scope AS scope, coalesce(toStringOrNull(n.id), toStringOrNull(n.name), elementId(n)) AS id, n.ebbTrailReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (a)-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->(b)
  WHERE r.ebbTrailReason IS NOT NULL
  RETURN a.scope AS scope, coalesce(toStringOrNull(a.id), toStringOrNull(a.name), elementId(a)) + ' ' + type(r) + ' ' + coalesce(toStringOrNull(b.id), toStringOrNull(b.name), elementId(b)) AS id,
    r.ebbTrailReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
}
RETURN scope, id, reason, tier, energy, lastAccessed
