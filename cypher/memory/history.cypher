// purpose: Show the promotions and the changes of a memory, and the sessions that accessed it.
// mode: read
// params: $scope: String, $id: String
// returns: what: String, at: Integer, energy: Float, detail: String, count: Integer (a row an event, newest first; at most 400 promotions, 400 changes and 400 accesses)
//
// A memory is found as in memory/read. Events without a usable instant are left out, so that they take no place of others.
OPTIONAL MATCH (own:Memory {scope: $scope, id: $id})
USING INDEX SEEK own:Memory(scope, id)
CALL (own) {
  OPTIONAL MATCH (bare:Memory {id: CASE WHEN own IS NULL AND $scope = 'local' THEN $id END})
  USING INDEX SEEK bare:Memory(id)
  WHERE bare.scope IS NULL
  RETURN bare
  ORDER BY elementId(bare)
  LIMIT 1
}
WITH coalesce(own, bare) AS m
WHERE m IS NOT NULL
CALL (m) {
  MATCH (s:Memory)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->(m)
  WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000})
  RETURN type(p) AS what, p.at.epochMillis AS at, toFloatOrNull(p.energy) AS energy, toStringOrNull(s.tier) AS detail, 1 AS count
  ORDER BY at DESC
  LIMIT 400
  UNION ALL
  MATCH (m)-[:PREVIOUS_VERSION]->(v:EbbVersion)
  WHERE datetime({epochMillis: -62135596800000}) <= v.until < datetime({epochMillis: 253402300800000})
  RETURN 'PREVIOUS_VERSION' AS what, v.until.epochMillis AS at, null AS energy, null AS detail, 1 AS count
  ORDER BY at DESC
  LIMIT 400
  UNION ALL
  MATCH (m)-[a:ACCESSED_IN]->(s:Session)
  WHERE datetime({epochMillis: -62135596800000}) <= a.at < datetime({epochMillis: 253402300800000})
  RETURN 'ACCESSED_IN' AS what, a.at.epochMillis AS at, null AS energy, toStringOrNull(s.id) AS detail, CASE WHEN a.count IS :: INTEGER NOT NULL THEN a.count ELSE 1 END AS count
  ORDER BY at DESC, detail
  LIMIT 400
}
RETURN what, at, energy, detail, count
ORDER BY at DESC, what
