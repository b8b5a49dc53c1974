// purpose: Remove the sessions of a page that began long enough ago and that nothing refers to any more.
// mode: write
// params: $afterId: String, $afterScope: String, $before: Integer, $limit: Integer
// returns: scanned: Integer, trimmed: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by what is left
//
// A session with any relationship is kept, whatever its writer; so is one in which a memory was made, one that co-activation
// never took up, one without a scope or an id, and one with a label or property of another writer.
MATCH (s:Session)
USING INDEX SEEK s:Session(id)
WHERE s.id >= $afterId AND (s.id > $afterId OR coalesce(toStringOrNull(s.scope), '') > $afterScope)
WITH s, s.id AS id, coalesce(toStringOrNull(s.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH s, id, scope, NOT coalesce(s.started < datetime({epochMillis: $before}) AND COUNT { (s)--() } = 0
    AND s.scope IS NOT NULL AND coalesce(s.coactivated, s.coactivateDue) IS NOT NULL
    AND all(label IN labels(s) WHERE label IN ['Session', 'EbbQuarantined'])
    AND all(key IN keys(s) WHERE key IN ['scope', 'id', 'started', 'ended', 'coactivateDue', 'coactivated', 'ebbLock', 'ebbReason', 'ebbMoved']), false)
  OR EXISTS { MATCH (m:Memory {sessionId: s.id}) USING INDEX SEEK m:Memory(sessionId) WHERE m.scope = s.scope } AS stays
FOREACH (gone IN CASE WHEN stays THEN [] ELSE [s] END | DELETE gone)
WITH count(*) AS scanned, sum(CASE WHEN stays THEN 0 ELSE 1 END) AS trimmed, max([id, scope]) AS last
RETURN scanned, trimmed, last[0] AS lastId, last[1] AS lastScope
