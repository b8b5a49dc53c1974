// purpose: List claims of memories with the state of their attempts, to find claims that need repair.
// mode: read
// params: $limit: Integer
// returns: mark: String, scope: String, memory: String, attempt: String, isAttempt: Boolean, known: Boolean, terminal: Boolean, several: Boolean (at most $limit rows)
//
// There are none while nothing runs, and otherwise as many as attempts hold, so scanning the type costs little. mark
// and attempt are element ids: an attempt of another writer may have no id of its own. several: another claim that has
// not ended holds the memory as well. A relationship of this type between other nodes is none of Ebb's.
MATCH (m)-[c:CONSOLIDATING]->(a)
WHERE m:EbbMemory OR a:ConsolidationAttempt
WITH m, c, a
LIMIT $limit
RETURN elementId(c) AS mark, CASE WHEN m:Memory AND m.scope IS :: STRING THEN m.scope END AS scope,
  CASE WHEN m:Memory AND m.id IS :: STRING THEN m.id END AS memory,
  elementId(a) AS attempt, a:ConsolidationAttempt AS isAttempt,
  coalesce(a.id IS :: STRING NOT NULL AND (a.state IN ['done', 'aborted', 'expired'] OR a.state IN ['planned', 'claimed'] AND a.leaseUntil IS :: INTEGER NOT NULL), false) AS known,
  coalesce(a.state IN ['done', 'aborted', 'expired'], false) AS terminal,
  COUNT {
    MATCH (m)-[:CONSOLIDATING]->(b:ConsolidationAttempt)
    WHERE NOT coalesce(b.state IN ['done', 'aborted', 'expired'], false)
  } > 1 AS several
