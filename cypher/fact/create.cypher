// purpose: Create facts about existing entities.
// mode: write
// params: $rows.id: List, $rows.scope: List, $rows.entity: List, $rows.relation: List, $rows.value: List, $rows.valueType: List, $rows.confidence: List, $rows.source: List, $rows.assertedAt: List, $rows.validUntil: List
// returns: nothing
// bound: a list of ids
// idempotent: by the unique id, and by the receipt of its transaction
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (e:EbbEntity {scope: $rows.scope[i], name: $rows.entity[i]})
USING INDEX SEEK e:EbbEntity(scope, name)
CREATE (f:Fact:EbbFact {
  id: $rows.id[i],
  entity: $rows.entity[i],
  relation: $rows.relation[i],
  scope: $rows.scope[i],
  value: $rows.value[i],
  valueType: $rows.valueType[i],
  confidence: $rows.confidence[i],
  source: $rows.source[i],
  assertedAt: datetime({epochMillis: $rows.assertedAt[i]}),
  validUntil: CASE WHEN $rows.validUntil[i] IS NOT NULL THEN datetime({epochMillis: $rows.validUntil[i]}) END
})-[:ABOUT]->(e)
