// purpose: Count the memories with an embedding that Ebb has written by another model than the configured one, and name the models.
// mode: read
// params: $model: String, $dimensions: Integer, $expired: Boolean
// returns: memories: Integer, models: List (one row; at most three models)
//
// The model has no index, so this reads every memory; it runs only on request. An embedding is Ebb's as in embedding/find.
MATCH (m:Memory)
WHERE m:EbbMemory AND NOT m:EbbQuarantined AND m.content IS :: STRING NOT NULL
  AND coalesce(m.tier IN ['working', 'shortTerm', 'longTerm'] OR $expired AND m.tier = 'expiredWorking', false)
  AND m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL
  AND m.ebbEmbeddingEnds = [m.embedding[0], m.embedding[-1]] AND (m.ebbEmbeddingModel <> $model OR size(m.embedding) <> $dimensions)
WITH coalesce(toStringOrNull(m.ebbEmbeddingModel), 'unknown') + ', ' + toString(size(m.embedding)) + ' numbers' AS model, count(m) AS memories
ORDER BY memories DESC
RETURN coalesce(sum(memories), 0) AS memories, collect(model)[..3] AS models
