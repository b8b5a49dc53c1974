// Quarantine: rows that no law can use, with the reason and unchanged values
// purpose: Show memories, relations, places and edges in quarantine.
// mode: read
// params: none
// returns: id, reason, tier, energy, lastAccessed (at most 400 rows; for a relation or an edge, its ends and type as id)
CALL () {
  MATCH (m:EbbQuarantined)
  RETURN coalesce(toStringOrNull(m.id), elementId(m)) AS id, m.ebbReason AS reason, m.tier AS tier, m.energy AS energy, m.lastAccessed AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (a)-[r:RELATES_TO]->(b)
  WHERE r.ebbReason IS NOT NULL
  RETURN coalesce(toStringOrNull(a.name), elementId(a)) + ' ' + coalesce(toStringOrNull(r.type), '?') + ' ' + coalesce(toStringOrNull(b.name), elementId(b)) AS id,
    r.ebbReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (n:Wing|Room|Closet|Drawer|Entity)
  WHERE n.ebbTrailReason IS NOT NULL
  RETURN coalesce(toStringOrNull(n.id), toStringOrNull(n.name), elementId(n)) AS id, n.ebbTrailReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
  UNION ALL
  MATCH (a)-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->(b)
  WHERE r.ebbTrailReason IS NOT NULL
  RETURN coalesce(toStringOrNull(a.id), toStringOrNull(a.name), elementId(a)) + ' ' + type(r) + ' ' + coalesce(toStringOrNull(b.id), toStringOrNull(b.name), elementId(b)) AS id,
    r.ebbTrailReason AS reason, null AS tier, null AS energy, null AS lastAccessed
  ORDER BY reason, id
  LIMIT 100
}
RETURN id, reason, tier, energy, lastAccessed
