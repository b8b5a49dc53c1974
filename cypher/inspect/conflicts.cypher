// Conflicts: memories that two attempts claimed, and the attempts that lost one
// purpose: Show memories claimed by two open attempts, and attempts that lost memories to an earlier one.
// mode: read
// params: none
// returns: what, scope, id, attempts, conflicts, started (at most 25 rows of each kind; an attempt may be of several scopes)
CALL () {
  MATCH (m:Memory)-[:CONSOLIDATING]->(a:ConsolidationAttempt)
  WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false)
  WITH m, collect(a.id) AS attempts, min(a.started) AS started
  WHERE size(attempts) > 1
  RETURN 'memory under several attempts' AS what, m.scope AS scope, m.id AS id, attempts, size(attempts) - 1 AS conflicts, started
  LIMIT 25
  UNION ALL
  MATCH (a:ConsolidationAttempt)
  WHERE a.conflicts > 0
  WITH a ORDER BY a.started IS NULL, a.started DESC LIMIT 25
  RETURN 'attempt that yielded' AS what, null AS scope, a.id AS id, [a.id] AS attempts, a.conflicts AS conflicts, a.started AS started
}
RETURN what, scope, id, attempts, conflicts, started
ORDER BY what DESC, started IS NULL, started DESC, id
