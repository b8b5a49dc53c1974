// purpose: Show the promotions and the changes of a memory, and the sessions that accessed it.
// mode: read
// params: $scope: String, $id: String
// returns: what: String, at: Integer, energy: Float, detail: String, count: Integer (a row an event, at most 400, newest first)
MATCH (m:Memory {scope: $scope, id: $id})
USING INDEX SEEK m:Memory(scope, id)
CALL (m) {
  MATCH (s:Memory)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->(m)
  RETURN type(p) AS what, CASE WHEN datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000}) THEN p.at.epochMillis END AS at, toFloatOrNull(p.energy) AS energy, toStringOrNull(s.tier) AS detail, 1 AS count
  UNION ALL
  MATCH (m)-[:PREVIOUS_VERSION]->(v:EbbVersion)
  RETURN 'PREVIOUS_VERSION' AS what, CASE WHEN datetime({epochMillis: -62135596800000}) <= v.until < datetime({epochMillis: 253402300800000}) THEN v.until.epochMillis END AS at, null AS energy, null AS detail, 1 AS count
  UNION ALL
  MATCH (m)-[a:ACCESSED_IN]->(s:Session)
  RETURN 'ACCESSED_IN' AS what, CASE WHEN datetime({epochMillis: -62135596800000}) <= a.at < datetime({epochMillis: 253402300800000}) THEN a.at.epochMillis END AS at, null AS energy, toStringOrNull(s.id) AS detail, CASE WHEN a.count IS :: INTEGER NOT NULL THEN a.count ELSE 1 END AS count
}
RETURN what, at, energy, detail, count
ORDER BY at DESC, what
LIMIT 400
