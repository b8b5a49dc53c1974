// purpose: List keys that are used more than once and would violate a constraint.
// mode: read
// params: none
// returns: what: String, name: String, count: Integer (at most 260 rows)
//
// Runs once, before the constraints exist, so no index can be used. Values are compared as a constraint compares them, and one that is no text
// or number has no name.
CALL () {
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.id IS NOT NULL
  WITH m.scope AS scope, m.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Memory (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (m:Memory) WHERE m.scope IS NOT NULL AND m.promotionKey IS NOT NULL
  WITH m.scope AS scope, m.promotionKey AS key, count(*) AS count WHERE count > 1
  RETURN 'Memory (scope, promotionKey)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (s:Session) WHERE s.scope IS NOT NULL AND s.id IS NOT NULL
  WITH s.scope AS scope, s.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Session (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (e:EbbEntity) WHERE e.scope IS NOT NULL AND e.name IS NOT NULL
  WITH e.scope AS scope, e.name AS key, count(*) AS count WHERE count > 1
  RETURN 'EbbEntity (scope, name)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (a:ConsolidationAttempt) WHERE a.id IS NOT NULL
  WITH a.id AS key, count(*) AS count WHERE count > 1
  RETURN 'ConsolidationAttempt.id' AS what, coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.scope IS NOT NULL AND c.id IS NOT NULL
  WITH c.scope AS scope, c.id AS key, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (c:SemanticCluster) WHERE c.scope IS NOT NULL AND c.key IS NOT NULL
  WITH c.scope AS scope, c.key AS key, count(*) AS count WHERE count > 1
  RETURN 'SemanticCluster (scope, key)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH ()-[r:RELATES_TO]->() WHERE r.ebbKey IS NOT NULL
  WITH r.ebbKey AS key, count(*) AS count WHERE count > 1
  RETURN 'RELATES_TO.ebbKey' AS what, coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (n:Wing) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH n.scope AS scope, n.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Wing (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (n:Room) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH n.scope AS scope, n.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Room (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (n:Closet) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH n.scope AS scope, n.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Closet (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (n:Drawer) WHERE n.scope IS NOT NULL AND n.id IS NOT NULL
  WITH n.scope AS scope, n.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Drawer (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
  UNION ALL
  MATCH (f:Fact) WHERE f.scope IS NOT NULL AND f.id IS NOT NULL
  WITH f.scope AS scope, f.id AS key, count(*) AS count WHERE count > 1
  RETURN 'Fact (scope, id)' AS what, coalesce(toStringOrNull(scope), '?') + ' / ' + coalesce(toStringOrNull(key), '?') AS name, count LIMIT 20
}
RETURN what, name, count
