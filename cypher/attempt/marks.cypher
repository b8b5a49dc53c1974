// purpose: List claims of memories, with where the attempt of each stands, so that those to mend are seen.
// mode: read
// params: $limit: Integer
// returns: mark: String, scope: String, memory: String, attempt: String, isAttempt: Boolean, known: Boolean, terminal: Boolean, several: Boolean (at most $limit rows)
//
// At rest there are none, and at work as many as claims hold, so the walk over the type costs little. mark and attempt are
// element ids: a foreign writer's attempt may have no id of its own. several: another claim that is not over holds the
// memory as well.
MATCH (m)-[c:CONSOLIDATING]->(a)
WITH m, c, a
LIMIT $limit
RETURN elementId(c) AS mark, CASE WHEN m:Memory AND m.scope IS :: STRING THEN m.scope END AS scope,
  CASE WHEN m:Memory AND m.id IS :: STRING THEN m.id END AS memory,
  elementId(a) AS attempt, a:ConsolidationAttempt AS isAttempt,
  a.state IS :: STRING NOT NULL AND a.id IS :: STRING NOT NULL AS known,
  coalesce(a.state IN ['done', 'aborted', 'expired'], false) AS terminal,
  COUNT {
    MATCH (m)-[:CONSOLIDATING]->(b:ConsolidationAttempt)
    WHERE NOT coalesce(b.state IN ['done', 'aborted', 'expired'], false)
  } > 1 AS several
