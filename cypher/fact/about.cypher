// purpose: List the facts about one entity by id, either all of them or only the heads.
// mode: read
// params: $scope: String, $entity: String, $relation: String, $history: Boolean, $after: String, $limit: Integer
// returns: as fact/list, the id as cursor (at most $limit rows)
//
// The scope is compared as text so that no index on it is used: a scope has more facts than one entity.
MATCH (e:EbbEntity {scope: $scope, name: $entity})<-[:ABOUT]-(f:Fact)
USING INDEX SEEK e:EbbEntity(scope, name)
WHERE f.id > $after AND toStringOrNull(f.scope) = $scope AND ($relation IS NULL OR f.relation = $relation) AND f:EbbFact AND NOT f:EbbQuarantined
  AND ($history OR EXISTS { (f)<-[:HEAD]-(:EbbLineage) })
WITH f
ORDER BY f.id
LIMIT $limit
RETURN f.id AS cursor, f.id AS id, toStringOrNull(f.entity) AS entity, toStringOrNull(f.relation) AS relation, toStringOrNull(f.scope) AS scope,
  CASE WHEN f.value IS :: STRING THEN f.value END AS text,
  CASE WHEN f.value IS :: INTEGER THEN f.value END AS whole,
  CASE WHEN f.value IS :: FLOAT THEN f.value END AS number,
  CASE WHEN f.value IS :: BOOLEAN THEN f.value END AS truth,
  toFloatOrNull(f.confidence) AS confidence, toStringOrNull(f.source) AS source,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000}) THEN f.assertedAt.epochMillis END AS assertedAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.validUntil < datetime({epochMillis: 253402300800000}) THEN f.validUntil.epochMillis END AS validUntil,
  toFloatOrNull(f.originConfidence) AS originConfidence,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.originAt < datetime({epochMillis: 253402300800000}) THEN f.originAt.epochMillis END AS originAt,
  EXISTS { (f)<-[:HEAD]-(:EbbLineage) } AS isHead
