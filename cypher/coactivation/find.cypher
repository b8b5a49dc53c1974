// purpose: Queue a page of sessions for co-activation where their number of accesses differs from the counted one.
// mode: write
// params: $afterId: String, $afterScope: String, $now: Integer, $limit: Integer
// returns: sessions: Integer, known: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by coactivateDue
//
// Accesses created by other writers are detected by the degree alone, so a session costs the same whatever its size;
// accesses are read only where it differs. A session in which no memory under the laws was accessed belongs to another
// library and is left alone. One without a scope gets that of its memories, unless its id exists there. known is the
// number of accesses of the page that wait for nothing.
MATCH (s:Session)
USING INDEX SEEK s:Session(id)
WHERE s.id >= $afterId AND (s.id > $afterId OR coalesce(toStringOrNull(s.scope), '') > $afterScope)
WITH s, s.id AS id, coalesce(toStringOrNull(s.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH s, id, scope, CASE WHEN 0 <= s.coactivated <= 1000000000000 THEN toInteger(s.coactivated) ELSE 0 END AS counted, COUNT { (s)<-[:ACCESSED_IN]-() } AS all
CALL (s, counted, all) {
  OPTIONAL MATCH (s)<-[:ACCESSED_IN]-(m:Memory)
  WHERE all <> counted AND m:EbbMemory AND NOT m:EbbQuarantined
    AND m.scope IS :: STRING NOT NULL AND (s.scope IS NULL OR s.scope = m.scope)
  RETURN min(m.scope) AS home
}
WITH s, id, scope, counted, all, home, s.scope IS NULL AND home IS NOT NULL AND size(s.id) <= 1024
  AND NOT EXISTS { MATCH (same:Session {scope: home, id: s.id}) USING INDEX SEEK same:Session(scope, id) }
  AND NOT EXISTS {
    MATCH (o:Session {id: s.id})<-[:ACCESSED_IN]-(m:Memory)
    USING INDEX SEEK o:Session(id)
    WHERE o.scope IS NULL AND elementId(o) < elementId(s) AND m:EbbMemory AND NOT m:EbbQuarantined
  } AS nameless
FOREACH (_ IN CASE WHEN nameless THEN [1] ELSE [] END | SET s.scope = home)
WITH s, id, scope, counted, all, all <> counted AND s.scope IS :: STRING NOT NULL AND coalesce(home, s.coactivated, s.coactivateDue) IS NOT NULL AS waits
FOREACH (_ IN CASE WHEN waits THEN [1] ELSE [] END |
  SET s.coactivateDue = coalesce(s.coactivateDue, datetime({epochMillis: $now})))
WITH count(*) AS sessions, sum(CASE WHEN waits THEN counted ELSE all END) AS known, max([id, scope]) AS last
RETURN sessions, known, last[0] AS lastId, last[1] AS lastScope
