// Clusters: the largest sets of memories that are used together, with their members
// purpose: Show clusters with their members.
// mode: read
// params: none
// returns: scope, key, size, strength, formed, members (at most 25 rows)
MATCH (c:SemanticCluster)
WHERE c.dissolved IS NULL AND 0 <= c.size <= 1e12
WITH c ORDER BY c.size DESC, c.strength DESC, c.key LIMIT 25
CALL (c) {
  MATCH (c)<-[:BELONGS_TO]-(m:Memory)
  WITH m ORDER BY m.id LIMIT 12
  RETURN collect(left(toStringOrNull(m.content), 60)) AS members
}
RETURN c.scope AS scope, c.key AS key, c.size AS size, c.strength AS strength, c.formed AS formed, members
