// purpose: Queue a page of sessions for co-activation where their number of accesses differs from the counted one.
// mode: write
// params: $afterId: String, $afterScope: String, $now: Integer, $limit: Integer
// returns: sessions: Integer, found: Integer, known: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by coactivateDue
//
// Accesses created by other writers are detected by the degree alone, so a session costs the same whatever its size. A
// session without a scope gets the default scope, unless its id exists there. known is the number of accesses of the
// page that wait for nothing.
MATCH (s:Session)
WHERE s.id >= $afterId AND (s.id > $afterId OR coalesce(toStringOrNull(s.scope), '') > $afterScope)
WITH s, s.id AS id, coalesce(toStringOrNull(s.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH s, id, scope, CASE WHEN 0 <= s.coactivated <= 1000000000000 THEN toInteger(s.coactivated) ELSE 0 END AS counted, COUNT { (s)<-[:ACCESSED_IN]-() } AS all,
  s.scope IS NULL AND NOT EXISTS { MATCH (:Session {scope: 'local', id: s.id}) }
    AND NOT EXISTS { MATCH (o:Session {id: s.id}) WHERE o.scope IS NULL AND elementId(o) < elementId(s) } AS nameless
FOREACH (_ IN CASE WHEN nameless THEN [1] ELSE [] END | SET s.scope = 'local')
WITH s, id, scope, counted, all, all <> counted AND (s.scope IS :: STRING NOT NULL) AS waits
FOREACH (_ IN CASE WHEN waits THEN [1] ELSE [] END |
  SET s.coactivateDue = coalesce(s.coactivateDue, datetime({epochMillis: $now})))
WITH count(*) AS sessions, sum(CASE WHEN waits THEN 1 ELSE 0 END) AS found,
  sum(CASE WHEN waits THEN counted ELSE all END) AS known, max([id, scope]) AS last
RETURN sessions, found, known, last[0] AS lastId, last[1] AS lastScope
