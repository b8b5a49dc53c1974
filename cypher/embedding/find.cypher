// purpose: Queue those of a page of memories that have no embedding of the configured model.
// mode: write
// params: $now: Integer, $model: String, $dimensions: Integer, $expired: Boolean, $afterId: String, $afterScope: String, $limit: Integer
// returns: scanned: Integer, queued: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by embedDue
//
// An embedding counts as Ebb's if its first and last numbers are those that Ebb has written; any other is of its writer,
// and stays. A row that another program changes meanwhile is queued in vain: embedding/due decides again.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(id)
WHERE m.id >= $afterId AND (m.id > $afterId OR coalesce(toStringOrNull(m.scope), '') > $afterScope)
WITH m, m.id AS id, coalesce(toStringOrNull(m.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH m, id, scope, m:EbbMemory AND NOT m:EbbQuarantined AND m.embedDue IS NULL AND m.content IS :: STRING NOT NULL
    AND coalesce(m.tier IN ['working', 'shortTerm', 'longTerm'] OR $expired AND m.tier = 'expiredWorking', false)
    AND (m.embedding IS NULL OR coalesce(CASE WHEN m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL
      THEN m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] AND (m.ebbEmbeddingModel <> $model OR size(m.embedding) <> $dimensions) END, false)) AS lacks
FOREACH (_ IN CASE WHEN lacks THEN [1] ELSE [] END | SET m.embedDue = datetime({epochMillis: $now}))
WITH count(*) AS scanned, sum(CASE WHEN lacks THEN 1 ELSE 0 END) AS queued, max([id, scope]) AS last
RETURN scanned, queued, last[0] AS lastId, last[1] AS lastScope
