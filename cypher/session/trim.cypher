// purpose: Remove sessions that began long enough ago and that nothing refers to any more.
// mode: write
// params: $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Scans all sessions. A session with any relationship is kept, whatever its writer; so is one in which a memory was
// made.
MATCH (s:Session)
WHERE s.started < datetime({epochMillis: $before}) AND NOT (s)--()
  AND NOT EXISTS { MATCH (m:Memory {sessionId: s.id}) WHERE m.scope = s.scope }
WITH s LIMIT $limit
DELETE s
RETURN count(*) AS trimmed
