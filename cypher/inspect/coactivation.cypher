// Co-activation: the pairs of memories that most sessions used together
// purpose: Show the strongest pairs.
// mode: read
// params: none
// returns: scope, weight, one, other, first, last (at most 25 rows)
MATCH (a:Memory)-[c:COACTIVATED]->(b:Memory)
WHERE 0 <= c.weight <= 1e12
WITH a, b, c ORDER BY c.weight DESC, a.id, b.id LIMIT 25
RETURN a.scope AS scope, c.weight AS weight, left(toStringOrNull(a.content), 60) AS one, left(toStringOrNull(b.content), 60) AS other,
  c.firstCoactivation AS first, c.lastCoactivation AS last
