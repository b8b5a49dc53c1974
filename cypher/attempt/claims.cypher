// purpose: Lock memories and list the claims on each that are not over.
// mode: write
// params: $id: List
// returns: memory: String, attempt: String, started: Integer, mark: String (a row for each claim)
// bound: a list of ids
// idempotent: by writing nothing but the lock
UNWIND $id AS id
MATCH (m:Memory {id: id})
SET m.ebbLock = true
WITH m
MATCH (m)-[c:CONSOLIDATING]->(a:ConsolidationAttempt)
WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false)
RETURN m.id AS memory, CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE elementId(a) END AS attempt,
  CASE WHEN a.started IS :: ZONED DATETIME THEN a.started.epochMillis END AS started, elementId(c) AS mark
