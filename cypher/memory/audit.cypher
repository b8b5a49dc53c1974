// purpose: Scan a page of memories for dates that no job would ever correct, and correct them.
// mode: write
// params: $afterId: String, $afterScope: String, $floor: Float, $limit: Integer
// returns: scanned: Integer, mended: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by the dates
// quarantine: SET m:EbbQuarantined, m.ebbReason = $reason RETURN count(*) AS scanned, 0 AS mended, count(*) AS quarantined, max(id) AS lastId, max(scope) AS lastScope
//
// A live memory without a dueAt never decays, so it gets the one of its anchor, and so does one of an unknown tier, which
// decay quarantines; a dueAt or ripeAt of a pinned or terminal memory only keeps the index busy and is removed. Each row is
// locked first and checked after.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(id)
WHERE m.id >= $afterId AND (m.id > $afterId OR coalesce(toStringOrNull(m.scope), '') > $afterScope)
WITH m, m.id AS id, coalesce(toStringOrNull(m.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH m, id, scope, m:EbbMemory AND NOT m:EbbQuarantined AS ours, coalesce(m.pinned = true, false) AS pinned,
  coalesce(m.tier IN ['expiredWorking', 'archivedWorking', 'archivedShortTerm'], false) AS over
WITH m, id, scope, ours AND NOT over AND NOT pinned AND m.dueAt IS NULL AND m.energyAt IS :: ZONED DATETIME NOT NULL
    AND (NOT coalesce(m.tier IN ['shortTerm', 'longTerm'], false) OR coalesce(toFloatOrNull(m.energy), 0.0) >= $floor) AS lost,
  ours AND (pinned OR over) AND (m.dueAt IS NOT NULL OR m.ripeAt IS NOT NULL) AS needless
FOREACH (_ IN CASE WHEN lost OR needless THEN [1] ELSE [] END | SET m.ebbLock = true)
FOREACH (_ IN CASE WHEN lost AND m.dueAt IS NULL AND coalesce(m.pinned, false) = false THEN [1] ELSE [] END |
  SET m.dueAt = datetime({epochMillis: m.energyAt.epochMillis}))
FOREACH (_ IN CASE WHEN needless AND (coalesce(m.pinned, false) = true OR m.tier IN ['expiredWorking', 'archivedWorking', 'archivedShortTerm']) THEN [1] ELSE [] END |
  SET m.dueAt = null, m.ripeAt = null)
WITH count(*) AS scanned, sum(CASE WHEN lost OR needless THEN 1 ELSE 0 END) AS mended, max([id, scope]) AS last
RETURN scanned, mended, last[0] AS lastId, last[1] AS lastScope
