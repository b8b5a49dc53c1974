// Facts: lineages changed by sweeps, with the asserted and the current confidence
// purpose: Show the facts changed by decay policies, latest first.
// mode: read
// params: none
// returns: entity, relation, value, scope, said, saidAt, counts, since, sweeps (at most 100 rows; said and counts are confidences; sweeps beyond a thousand are 1000+)
MATCH (l:EbbLineage)-[:HEAD]->(f:Fact)-[:DECAYED_FROM]->(:Fact)
WHERE datetime({epochMillis: -62135596800000}) <= f.assertedAt < datetime({epochMillis: 253402300800000})
WITH f
ORDER BY f.assertedAt DESC
LIMIT 100
WITH f, COUNT { (f)-[:DECAYED_FROM*1..1001]->(:Fact) } AS sweeps
RETURN f.entity AS entity, f.relation AS relation, f.value AS value, f.scope AS scope,
  f.originConfidence AS said, f.originAt AS saidAt, f.confidence AS counts, f.assertedAt AS since,
  CASE WHEN sweeps > 1000 THEN '1000+' ELSE sweeps END AS sweeps
ORDER BY since DESC, entity, relation
