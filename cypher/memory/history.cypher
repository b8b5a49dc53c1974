// purpose: Show what happened to a memory: its promotions, and the sessions that accessed it.
// mode: read
// params: $scope: String, $id: String
// returns: what: String, at: Integer, energy: Float, detail: String, count: Integer (a row an event, at most 400, newest first)
MATCH (m:Memory {scope: $scope, id: $id})
CALL (m) {
  MATCH (s:Memory)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->(m)
  RETURN type(p) AS what, p.at.epochMillis AS at, toFloat(p.energy) AS energy, s.tier AS detail, 1 AS count
  UNION ALL
  MATCH (m)-[a:ACCESSED_IN]->(s:Session)
  RETURN 'ACCESSED_IN' AS what, a.at.epochMillis AS at, null AS energy, s.id AS detail, coalesce(a.count, 1) AS count
}
RETURN what, at, energy, detail, count
ORDER BY at DESC, what
LIMIT 400
