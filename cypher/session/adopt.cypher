// purpose: Give sessions without a scope in which memories were accessed the scope of the memories adopted next.
// mode: write
// params: $limit: Integer
// returns: sessions: Integer (one row)
// bound: $limit memories, and the sessions of each
// idempotent: by the scope
//
// A session of another library, in which no memory was accessed, is left alone, also where its id is the sessionId of a
// memory. Of several with one id and no scope, one is chosen; an id that exists in the scope is left alone.
//
// The memories of a session are reached through its relationships: a planner that may name them would read all memories for each
// session where sessions have more relationships than there are memories.
MATCH (m:Memory)
WHERE NOT m:EbbMemory AND m.id IS NOT NULL AND m.content IS NOT NULL AND (m.tier IS NOT NULL OR m.energy IS NOT NULL)
WITH m LIMIT $limit
WITH m, CASE WHEN m.scope IS :: STRING NOT NULL THEN m.scope ELSE 'local' END AS scope
WHERE m.id IS :: STRING NOT NULL
UNWIND [(m)-[:ACCESSED_IN]->(s:Session) | s] + COLLECT {
  MATCH (s:Session {id: m.sessionId})
  USING INDEX SEEK s:Session(id)
  WHERE EXISTS {
    MATCH (s)<-[r:ACCESSED_IN]-()
    WHERE startNode(r):Memory AND NOT startNode(r):EbbQuarantined AND startNode(r).id IS :: STRING NOT NULL
  }
  RETURN s
} AS s
WITH s, min(scope) AS scope
WHERE s.scope IS NULL AND s.id IS :: STRING NOT NULL AND size(s.id) <= 1024
  AND NOT EXISTS { MATCH (same:Session {scope: scope, id: s.id}) USING INDEX SEEK same:Session(scope, id) }
WITH s, scope
ORDER BY elementId(s)
WITH scope, s.id AS id, collect(s)[0] AS s
SET s.scope = scope
RETURN count(s) AS sessions
