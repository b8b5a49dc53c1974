// purpose: List keys that are used more than once and would break a constraint.
// mode: read
// params: none
// returns: what: String, name: String, count: Integer (at most 260 rows)
//
// Runs once, before the constraints exist, so there is no index to ask.
CALL () {
  MATCH (m:Memory) WHERE m.id IS NOT NULL
  WITH toString(m.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Memory.id' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (m:Memory) WHERE m.promotionKey IS NOT NULL
  WITH toString(m.promotionKey) AS name, count(*) AS count WHERE count > 1
  RETURN 'Memory.promotionKey' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (s:Session) WHERE s.scope IS NOT NULL AND s.id IS NOT NULL
  WITH toString(s.scope) + ' / ' + toString(s.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Session (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (e:Entity) WHERE e.scope IS NOT NULL AND e.name IS NOT NULL
  WITH toString(e.scope) + ' / ' + toString(e.name) AS name, count(*) AS count WHERE count > 1
  RETURN 'Entity (scope, name)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (a:ConsolidationAttempt) WHERE a.id IS NOT NULL
  WITH toString(a.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'ConsolidationAttempt.id' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.id IS NOT NULL
  WITH toString(c.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster.id' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.key IS NOT NULL
  WITH toString(c.key) AS name, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster.key' AS what, name, count LIMIT 20
  UNION ALL
  MATCH ()-[r:RELATES_TO]->() WHERE r.key IS NOT NULL
  WITH toString(r.key) AS name, count(*) AS count WHERE count > 1
  RETURN 'RELATES_TO.key' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (n:Wing) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH toString(n.scope) + ' / ' + toString(n.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Wing (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (n:Room) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH toString(n.scope) + ' / ' + toString(n.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Room (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (n:Closet) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH toString(n.scope) + ' / ' + toString(n.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Closet (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (n:Drawer) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH toString(n.scope) + ' / ' + toString(n.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Drawer (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (f:Fact) WHERE f.id IS NOT NULL
  WITH toString(f.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Fact.id' AS what, name, count LIMIT 20
}
RETURN what, name, count
