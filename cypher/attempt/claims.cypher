// purpose: Lock memories and list the claims on each that are not over.
// mode: write
// params: $rows.id: List
// returns: memory: String, claims: List (a row for each id that exists)
// bound: a list of ids
// idempotent: by writing nothing but the lock
//
// A claim is a list of its attempt's id, its own element id, and when the attempt was started: epoch milliseconds as text, since
// a list has one type.
UNWIND $rows.id AS id
MATCH (m:Memory {id: id})
SET m.ebbLock = true
RETURN m.id AS memory,
  [(m)-[c:CONSOLIDATING]->(a:ConsolidationAttempt)
    WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false) |
    [CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE elementId(a) END, elementId(c),
      CASE WHEN datetime({epochMillis: -62135596800000}) <= a.started < datetime({epochMillis: 253402300800000}) THEN toString(a.started.epochMillis) END]] AS claims
