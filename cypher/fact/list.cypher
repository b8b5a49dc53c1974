// purpose: List the heads of a scope by the keys of their lineages.
// mode: read
// params: $scope: String, $relation: String, $after: String, $limit: Integer
// returns: cursor: String, id, entity, relation, scope, text, whole, number, truth, confidence, source, assertedAt, validUntil, originConfidence, originAt, isHead (at most $limit rows)
MATCH (l:EbbLineage)
USING INDEX SEEK l:EbbLineage(scope, key)
WHERE l.scope = $scope AND l.key > $after AND ($relation IS NULL OR l.relation = $relation)
MATCH (l)-[:HEAD]->(f:Fact)
WHERE NOT f:EbbQuarantined
WITH l, f
ORDER BY l.scope, l.key
LIMIT $limit
RETURN l.key AS cursor, f.id AS id, toStringOrNull(f.entity) AS entity, toStringOrNull(f.relation) AS relation, toStringOrNull(f.scope) AS scope,
  CASE WHEN f.value IS :: STRING THEN f.value END AS text,
  CASE WHEN f.value IS :: INTEGER THEN f.value END AS whole,
  CASE WHEN f.value IS :: FLOAT THEN f.value END AS number,
  CASE WHEN f.value IS :: BOOLEAN THEN f.value END AS truth,
  toFloatOrNull(f.confidence) AS confidence, toStringOrNull(f.source) AS source,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000}) THEN f.assertedAt.epochMillis END AS assertedAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.validUntil < datetime({epochMillis: 253402300800000}) THEN f.validUntil.epochMillis END AS validUntil,
  toFloatOrNull(f.originConfidence) AS originConfidence,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.originAt < datetime({epochMillis: 253402300800000}) THEN f.originAt.epochMillis END AS originAt,
  true AS isHead
