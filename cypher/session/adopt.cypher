// purpose: Give sessions of other writers without a scope the scope of the memories that are adopted next.
// mode: write
// params: $limit: Integer
// returns: sessions: Integer (one row)
// bound: $limit memories, of each one session
// idempotent: by the scope
//
// Otherwise adoption would create a duplicate of the session, and both would count. Of several with one id and no
// scope, one is chosen; an id that exists in the scope is left alone.
MATCH (m:Memory)
WHERE NOT m:EbbStamped
WITH m LIMIT $limit
WITH m
WHERE m.sessionId IS :: STRING NOT NULL
WITH DISTINCT m.sessionId AS id, CASE WHEN m.scope IS :: STRING NOT NULL THEN m.scope ELSE 'local' END AS scope
MATCH (s:Session {id: id})
WHERE s.scope IS NULL AND NOT EXISTS { MATCH (:Session {scope: scope, id: id}) }
  AND NOT EXISTS { MATCH (o:Session {id: id}) WHERE o.scope IS NULL AND elementId(o) < elementId(s) }
WITH s, min(scope) AS scope
SET s.scope = scope
RETURN count(s) AS sessions
