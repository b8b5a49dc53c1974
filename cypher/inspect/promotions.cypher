// Promotions: the memories that were promoted last, with instant and energy
// purpose: Show the latest promotions.
// mode: read
// params: none
// returns: scope, at, from, to, energy, id, content (at most 25 rows)
MATCH (s:Memory)-[p:PROMOTED_TO|CRYSTALLIZED_INTO]->(m:Memory)
WHERE datetime({epochMillis: -62135596800000}) <= p.at < datetime({epochMillis: 253402300800000})
RETURN m.scope AS scope, p.at AS at, CASE type(p) WHEN 'PROMOTED_TO' THEN 'working' ELSE 'shortTerm' END AS from,
  CASE type(p) WHEN 'PROMOTED_TO' THEN 'shortTerm' ELSE 'longTerm' END AS to,
  p.energy AS energy, m.id AS id, left(toStringOrNull(m.content), 90) AS content
ORDER BY at DESC, id
LIMIT 25
