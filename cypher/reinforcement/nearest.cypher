// purpose: List the memories with the embeddings nearest to that of one memory, nearest first.
// mode: read
// params: $index: String, $scope: String, $id: String, $limit: Integer
// returns: id: String, score: Float, counts: Boolean (at most $limit rows)
//
// The index holds every memory with an embedding; counts says whether one is of the same scope and in short-term or
// long-term memory, with an embedding of the same model as far as that is known: each that Ebb has written, see
// embedding/write. The score is (1 + cosine) / 2, computed from the embeddings themselves, since the index keeps them with
// fewer digits.
MATCH (n:Memory {scope: $scope, id: $id})
USING INDEX SEEK n:Memory(scope, id)
CALL db.index.vector.queryNodes($index, $limit, n.embedding) YIELD node AS m
WITH n, m,
  CASE WHEN n.ebbEmbeddingEnds = [n.embedding[0], n.embedding[-1]] THEN n.ebbEmbeddingModel END AS model,
  CASE WHEN m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] THEN m.ebbEmbeddingModel END AS other
RETURN toStringOrNull(m.id) AS id, vector.similarity.cosine(n.embedding, m.embedding) AS score,
  coalesce(m <> n AND m.scope = n.scope AND m.tier IN ['shortTerm', 'longTerm'] AND m:EbbMemory AND NOT m:EbbQuarantined
    AND coalesce(model = other, true), false) AS counts
ORDER BY score DESC
