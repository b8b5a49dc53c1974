// purpose: List keys that are used more than once and would violate a constraint.
// mode: read
// params: none
// returns: what: String, name: String, count: Integer (at most 260 rows)
//
// Runs once, before the constraints exist, so no index can be used.
CALL () {
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
  WITH toString(m.scope) + ' / ' + toString(m.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Memory (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.promotionKey IS NOT NULL
  WITH toString(m.scope) + ' / ' + toString(m.promotionKey) AS name, count(*) AS count WHERE count > 1
  RETURN 'Memory (scope, promotionKey)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (s:Session) WHERE s.scope IS NOT NULL AND s.id IS NOT NULL
  WITH toString(s.scope) + ' / ' + toString(s.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Session (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (e:EbbEntity) WHERE e.scope IS NOT NULL AND e.name IS NOT NULL
  WITH toString(e.scope) + ' / ' + toString(e.name) AS name, count(*) AS count WHERE count > 1
  RETURN 'EbbEntity (scope, name)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (a:ConsolidationAttempt) WHERE a.id IS NOT NULL
  WITH toString(a.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'ConsolidationAttempt.id' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.scope IS NOT NULL AND c.id IS NOT NULL
  WITH toString(c.scope) + ' / ' + toString(c.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster (scope, id)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.scope IS NOT NULL AND c.key IS NOT NULL
  WITH toString(c.scope) + ' / ' + toString(c.key) AS name, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster (scope, key)' AS what, name, count LIMIT 20
  UNION ALL
  MATCH ()-[r:RELATES_TO]->() WHERE r.ebbKey IS NOT NULL
  WITH toString(r.ebbKey) AS name, count(*) AS count WHERE count > 1
  RETURN 'RELATES_TO.ebbKey' AS what, name, count LIMIT 20
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
  MATCH (f:Fact) WHERE f.scope IS NOT NULL AND f.id IS NOT NULL
  WITH toString(f.scope) + ' / ' + toString(f.id) AS name, count(*) AS count WHERE count > 1
  RETURN 'Fact (scope, id)' AS what, name, count LIMIT 20
}
RETURN what, name, count
