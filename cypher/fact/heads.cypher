// purpose: Read a page of the heads of a scope, by the keys of their lineages, with the values that decay needs.
// mode: read
// params: $scope: String, $after: String, $limit: Integer
// returns: key: String, relation: String, id: String, confidence: Float, assertedAt: Integer, validUntil: Integer, source: String, originConfidence: Float, originAt: Integer, fault: String (a row for each head of at most $limit lineages; id null of one without)
// quarantine: OPTIONAL MATCH (l)-[:HEAD]->(f:Fact) SET f:EbbQuarantined, f.ebbReason = $reason RETURN l.key AS key, toStringOrNull(f.id) AS id, 'quarantined' AS fault
//
// A value of a wrong type comes back as null, or is named by fault where null has a meaning.
MATCH (l:EbbLineage)
USING INDEX SEEK l:EbbLineage(scope, key)
WHERE l.scope = $scope AND l.key > $after
WITH l
ORDER BY l.scope, l.key
LIMIT $limit
OPTIONAL MATCH (l)-[:HEAD]->(f:Fact)
RETURN l.key AS key, l.relation AS relation, CASE WHEN f.id IS :: STRING THEN f.id END AS id,
  CASE WHEN f.confidence IS :: FLOAT OR f.confidence IS :: INTEGER THEN toFloat(f.confidence) END AS confidence,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000}) THEN f.assertedAt.epochMillis END AS assertedAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.validUntil < datetime({epochMillis: 253402300800000}) THEN f.validUntil.epochMillis END AS validUntil,
  CASE WHEN f.source IS :: STRING THEN f.source END AS source,
  CASE WHEN f.originConfidence IS :: FLOAT OR f.originConfidence IS :: INTEGER THEN toFloat(f.originConfidence) END AS originConfidence,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.originAt < datetime({epochMillis: 253402300800000}) THEN f.originAt.epochMillis END AS originAt,
  CASE WHEN f:EbbQuarantined THEN 'quarantined'
    WHEN NOT f.validUntil IS :: ZONED DATETIME THEN 'validUntil is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= f.validUntil < datetime({epochMillis: 253402300800000})) THEN 'validUntil is outside the years 0001 to 9999'
    WHEN NOT f.source IS :: STRING THEN 'source is not text'
  END AS fault
