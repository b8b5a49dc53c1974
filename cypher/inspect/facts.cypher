// Facts: lineages changed by sweeps, with the asserted and the current confidence
// purpose: Show the facts changed by decay policies, latest first.
// mode: read
// params: none
// returns: entity, relation, value, scope, said, saidAt, counts, since, sweeps (at most 100 rows; said and counts are confidences)
MATCH (l:EbbLineage)-[:HEAD]->(f:Fact)-[:DECAYED_FROM]->(:Fact)
WITH f
ORDER BY f.assertedAt DESC
LIMIT 100
RETURN f.entity AS entity, f.relation AS relation, f.value AS value, f.scope AS scope,
  f.originConfidence AS said, f.originAt AS saidAt, f.confidence AS counts, f.assertedAt AS since,
  COUNT { (f)-[:DECAYED_FROM*1..100]->(:Fact) } AS sweeps
