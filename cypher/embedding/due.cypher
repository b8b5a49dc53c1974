// purpose: List the memories in the embedding backlog, longest-waiting first.
// mode: read
// params: $now: Integer, $model: String, $dimensions: Integer, $expired: Boolean, $chars: Integer, $limit: Integer
// returns: id: String, scope: String, text: String (at most $limit rows)
//
// The text is the beginning of the content; null if the memory is not to be embedded any more: it has an embedding of the
// model or of its writer, or no mirror holds it.
MATCH (m:Memory)
WHERE m.embedDue >= datetime({epochMillis: -62135596800000}) AND m.embedDue <= datetime({epochMillis: $now})
  AND NOT m:EbbQuarantined AND m.id IS :: STRING NOT NULL AND m.scope IS :: STRING NOT NULL
WITH m, m.embedDue AS due
ORDER BY due, m.id
LIMIT $limit
RETURN m.id AS id, m.scope AS scope,
  CASE WHEN m.content IS :: STRING NOT NULL
    AND (m.tier IN ['working', 'shortTerm', 'longTerm'] OR $expired AND m.tier = 'expiredWorking')
    AND (m.embedding IS NULL OR m.embeddingModel <> $model
      OR m.embeddingModel = $model AND NOT coalesce(m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL AND size(m.embedding) = $dimensions, false))
    THEN left(m.content, $chars) END AS text
