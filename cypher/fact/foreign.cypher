// purpose: Read facts of the documented shape that other writers created and that are not yet adopted.
// mode: read
// params: $limit: Integer
// returns: element: String, id: String, scope: String, entity: String, relation: String, text: String, whole: Integer, number: Float, truth: Boolean, confidence: Float, source: String, assertedAt: Integer, originAt: Integer, fault: String (at most $limit rows)
// quarantine: SET f:EbbFact:EbbQuarantined, f.ebbReason = $reason RETURN 0 AS adopted, count(*) AS quarantined
//
// Only a fact with an entity, a relation and a value is adopted: any other is of another library, and is left unchanged.
// The absence of a label has no index; this runs only when the counts differ.
MATCH (f:Fact)
WHERE NOT f:EbbFact AND f.entity IS NOT NULL AND f.relation IS NOT NULL AND f.value IS NOT NULL
WITH f
LIMIT $limit
RETURN elementId(f) AS element,
  CASE WHEN f.id IS :: STRING THEN f.id END AS id,
  CASE WHEN f.scope IS :: STRING THEN f.scope END AS scope,
  CASE WHEN f.entity IS :: STRING THEN f.entity END AS entity,
  CASE WHEN f.relation IS :: STRING THEN f.relation END AS relation,
  CASE WHEN f.value IS :: STRING THEN f.value END AS text,
  CASE WHEN f.value IS :: INTEGER THEN f.value END AS whole,
  CASE WHEN f.value IS :: FLOAT THEN f.value END AS number,
  CASE WHEN f.value IS :: BOOLEAN THEN f.value END AS truth,
  CASE WHEN f.confidence IS :: FLOAT OR f.confidence IS :: INTEGER THEN toFloat(f.confidence) END AS confidence,
  CASE WHEN f.source IS :: STRING THEN f.source END AS source,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000}) THEN f.assertedAt.epochMillis END AS assertedAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= f.originAt < datetime({epochMillis: 253402300800000}) THEN f.originAt.epochMillis END AS originAt,
  CASE WHEN NOT f.id IS :: STRING THEN 'id is not text'
    WHEN NOT f.scope IS :: STRING THEN 'scope is not text'
    WHEN NOT f.entity IS :: STRING NOT NULL THEN 'entity is not text'
    WHEN NOT f.relation IS :: STRING NOT NULL THEN 'relation is not text'
    WHEN NOT f.confidence IS :: FLOAT AND NOT f.confidence IS :: INTEGER THEN 'confidence is not a number'
    WHEN NOT f.source IS :: STRING THEN 'source is not text'
    WHEN NOT f.assertedAt IS :: ZONED DATETIME THEN 'assertedAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000})) THEN 'assertedAt is outside the years 0001 to 9999'
    WHEN NOT f.validUntil IS :: ZONED DATETIME THEN 'validUntil is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= f.validUntil < datetime({epochMillis: 253402300800000})) THEN 'validUntil is outside the years 0001 to 9999'
    WHEN f.scope IS NULL AND EXISTS { MATCH (same:Fact {scope: 'local', id: f.id}) USING INDEX SEEK same:Fact(scope, id) } THEN 'id is that of another fact of the scope local'
  END AS fault
