// purpose: List the memories with the embeddings nearest to a vector, nearest first, as far as the mirror of a scope may hold them.
// mode: read
// params: $index: String, $rows.vector: List, $scope: String, $rows.marks: List, $expired: Boolean, $model: String, $limit: Integer
// returns: id: String, score: Float, tier: String, session: String, lastAccessed: Integer, tags: List, metadata: String (at most $limit rows)
//
// The index holds every memory with an embedding, of any scope: id is null for one that the mirror may not hold, by the rules of
// mirror/nodes, so that a caller can tell whether the limit was reached. The score is (1 + cosine) / 2, computed from the
// embeddings themselves, since the index keeps them with fewer digits.
CALL db.index.vector.queryNodes($index, $limit, $rows.vector) YIELD node AS m
WITH m, coalesce(m.scope = $scope AND m.id IS :: STRING NOT NULL
  AND NOT m:EbbQuarantined AND m.dissolved IS NULL
  AND NOT coalesce(m.tier, '') IN ['archivedWorking', 'archivedShortTerm']
  AND ($expired OR NOT coalesce(m.tier, '') = 'expiredWorking')
  AND none(mark IN $rows.marks WHERE m[mark] IS NOT NULL)
  AND m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL
  AND NOT coalesce(m.ebbEmbeddingModel <> $model AND m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]], false), false) AS counts
RETURN CASE WHEN counts THEN m.id END AS id,
  CASE WHEN counts THEN vector.similarity.cosine(m.embedding, $rows.vector) ELSE 0.0 END AS score,
  CASE WHEN counts AND m.tier IS :: STRING NOT NULL THEN m.tier END AS tier,
  CASE WHEN counts AND m.sessionId IS :: STRING NOT NULL THEN m.sessionId END AS session,
  CASE WHEN counts AND datetime({epochMillis: -62135596800000}) <= m.lastAccessed < datetime({epochMillis: 253402300800000})
    THEN m.lastAccessed.epochMillis END AS lastAccessed,
  CASE WHEN counts AND m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags ELSE [] END AS tags,
  CASE WHEN counts AND m.metadata IS :: STRING NOT NULL THEN m.metadata END AS metadata
ORDER BY score DESC
