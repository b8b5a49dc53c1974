// purpose: Lock memories and list the claims on each that have not ended.
// mode: write
// params: $rows.scope: List, $rows.id: List
// returns: memory: Integer (index in $rows.id), claims: List (a row for each memory that exists)
// bound: a list of keys
// idempotent: by writing nothing but the lock
//
// A claim is a list of the id of its attempt, its own element id, and the start of the attempt: epoch milliseconds as
// text, since a list has one type.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.ebbLock = true
RETURN i AS memory,
  [(m)-[c:CONSOLIDATING]->(a:ConsolidationAttempt)
    WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false) |
    [CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE elementId(a) END, elementId(c),
      CASE WHEN datetime({epochMillis: -62135596800000}) <= a.started < datetime({epochMillis: 253402300800000}) THEN toString(a.started.epochMillis) END]] AS claims
