// Reinforcements: promoted memories that were strengthened by similar newer ones, and the most similar of these
// purpose: Show the memories that were strengthened most often, and by which memories.
// mode: read
// params: none
// returns: scope, times, strongest, memory, by (at most 25 rows)
MATCH (:Memory)-[r:REINFORCES]->(o:Memory)
WITH o, count(r) AS times, max(CASE WHEN 0.0 <= r.strength <= 1e12 THEN r.strength END) AS strongest
ORDER BY times DESC, coalesce(strongest, 0.0) DESC, o.id
LIMIT 25
CALL (o) {
  OPTIONAL MATCH (n:Memory)-[r:REINFORCES]->(o)
  WHERE 0.0 <= r.strength <= 1e12
  RETURN left(toStringOrNull(n.content), 60) AS by
  ORDER BY r.strength DESC, n.id
  LIMIT 1
}
RETURN o.scope AS scope, times, strongest, left(toStringOrNull(o.content), 60) AS memory, by
ORDER BY times DESC, coalesce(strongest, 0.0) DESC, memory
