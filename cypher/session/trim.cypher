// purpose: Remove sessions that began long enough ago and that nothing refers to any more.
// mode: write
// params: $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Scans all sessions. A session with any relationship is kept, whatever its writer; so is one in which a memory was
// made, one that co-activation never took up, one without a scope or an id, and one with a label or property of another writer.
MATCH (s:Session)
WHERE s.started < datetime({epochMillis: $before}) AND NOT (s)--()
  AND s.scope IS NOT NULL AND s.id IS NOT NULL AND coalesce(s.coactivated, s.coactivateDue) IS NOT NULL
  AND all(label IN labels(s) WHERE label IN ['Session', 'EbbQuarantined'])
  AND all(key IN keys(s) WHERE key IN ['scope', 'id', 'started', 'ended', 'coactivateDue', 'coactivated', 'ebbLock', 'ebbReason', 'ebbMoved'])
  AND NOT EXISTS { MATCH (m:Memory {sessionId: s.id}) WHERE m.scope = s.scope }
WITH s LIMIT $limit
DELETE s
RETURN count(*) AS trimmed
