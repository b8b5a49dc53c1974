// Clusters as a picture: the strongest, their members, and the pairs among these
// purpose: Draw the strongest clusters with their members and the pairs among them.
// mode: read
// params: none
// returns: cluster, members, pairs (at most 6 rows)
MATCH (c:SemanticCluster)
WHERE c.dissolved IS NULL AND 0.0 <= c.strength <= 1e12
WITH c ORDER BY c.strength DESC, c.key LIMIT 6
CALL (c) {
  MATCH belongs = (c)<-[:BELONGS_TO]-(m:Memory)
  WITH belongs, m ORDER BY m.id LIMIT 15
  RETURN collect(belongs) AS members, collect(m) AS of
}
CALL (of) {
  UNWIND of AS a
  MATCH pair = (a)-[:COACTIVATED]->(b:Memory)
  WHERE b IN of
  RETURN collect(pair) AS pairs
}
RETURN c AS cluster, members, pairs
