// purpose: Count the memories with an embedding that Ebb has written by another model than the configured one, and name the models.
// mode: read
// params: $model: String, $dimensions: Integer, $expired: Boolean, $limit: Integer
// returns: read: Integer, memories: Integer, models: List (one row; at most three models, of at most $limit memories)
//
// The model has no index, and an embedding is read whole: this reads a limited number of memories, and only on request. An embedding is
// Ebb's as in embedding/find.
MATCH (m:Memory)
WHERE m:EbbMemory
WITH m
LIMIT $limit
WITH m, coalesce(CASE WHEN NOT m:EbbQuarantined AND m.ebbEmbeddingEnds IS NOT NULL AND m.content IS :: STRING NOT NULL
    AND coalesce(m.tier IN ['working', 'shortTerm', 'longTerm'] OR $expired AND m.tier = 'expiredWorking', false)
    AND m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL
  THEN m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] AND (m.ebbEmbeddingModel <> $model OR size(m.embedding) <> $dimensions) END, false) AS isOther
WITH CASE WHEN isOther THEN coalesce(toStringOrNull(m.ebbEmbeddingModel), 'unknown') + ', ' + toString(size(m.embedding)) + ' numbers' END AS model, count(m) AS memories
ORDER BY memories DESC
RETURN coalesce(sum(memories), 0) AS read, coalesce(sum(CASE WHEN model IS NOT NULL THEN memories END), 0) AS memories, collect(model)[..3] AS models
