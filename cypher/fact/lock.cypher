// purpose: Lock lineages in the order given and read their heads, with the values that decay needs.
// mode: write
// params: $rows.key: List
// returns: as fact/heads (a row for each head of these lineages)
// bound: a list of keys
// idempotent: by writing nothing but the lock
UNWIND $rows.key AS key
MATCH (l:EbbLineage {key: key})
USING INDEX SEEK l:EbbLineage(key)
SET l.lock = true
WITH l
MATCH (l)-[:HEAD]->(f:Fact)
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
