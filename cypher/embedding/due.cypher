// purpose: List memories in the embedding backlog: the longest-waiting and the newest.
// mode: read
// params: $now: Integer, $model: String, $dimensions: Integer, $expired: Boolean, $chars: Integer, $oldest: Integer, $newest: Integer
// returns: id: String, scope: String, text: String (at most $oldest + $newest rows)
//
// Pages of either end alternate: new memories need not wait until all older ones are embedded, which may take hours. Rows due at the same instant come in
// the order of the index: a search queues very many at once, and sorting them would read them all for each page.
//
// The text is the beginning of the content; null if the memory is not to be embedded any more: it has an embedding of the
// model or of its writer, or no mirror holds it.
CALL () {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(embedDue)
  WHERE m.embedDue >= datetime({epochMillis: -62135596800000}) AND m.embedDue <= datetime({epochMillis: $now})
    AND m:EbbMemory AND NOT m:EbbQuarantined AND m.id IS :: STRING NOT NULL AND m.scope IS :: STRING NOT NULL
  RETURN m ORDER BY m.embedDue LIMIT $oldest
  UNION
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(embedDue)
  WHERE m.embedDue >= datetime({epochMillis: -62135596800000}) AND m.embedDue <= datetime({epochMillis: $now})
    AND m:EbbMemory AND NOT m:EbbQuarantined AND m.id IS :: STRING NOT NULL AND m.scope IS :: STRING NOT NULL
  RETURN m ORDER BY m.embedDue DESC LIMIT $newest
}
RETURN m.id AS id, m.scope AS scope,
  CASE WHEN m.content IS :: STRING NOT NULL
    AND (m.tier IN ['working', 'shortTerm', 'longTerm'] OR $expired AND m.tier = 'expiredWorking')
    AND (m.embedding IS NULL OR coalesce(CASE WHEN m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL
      THEN m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] AND (m.ebbEmbeddingModel <> $model OR size(m.embedding) <> $dimensions) END, false))
    THEN left(m.content, $chars) END AS text
