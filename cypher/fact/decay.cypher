// purpose: Give locked lineages a new head of lower confidence, derived from the present head.
// mode: write
// params: $now: Integer, $source: String, $rows.key: List, $rows.from: List, $rows.id: List, $rows.confidence: List, $rows.originConfidence: List, $rows.originAt: List
// returns: decayed: Integer (one row)
// bound: a list of keys
// idempotent: by the unique id, which follows from lineage, origin, instant and confidence
//
// The new fact has the same tuple with the confidence that the sweep computed; the former head is unchanged.
UNWIND range(0, size($rows.key) - 1) AS i
MATCH (l:EbbLineage {key: $rows.key[i]})
USING INDEX SEEK l:EbbLineage(key)
MATCH (f:Fact {scope: l.scope, id: $rows.from[i]})
USING INDEX SEEK f:Fact(scope, id)
CREATE (d:Fact:EbbFact {
  id: $rows.id[i],
  entity: f.entity,
  relation: f.relation,
  scope: f.scope,
  value: f.value,
  valueType: f.valueType,
  confidence: $rows.confidence[i],
  source: $source,
  assertedAt: datetime({epochMillis: $now}),
  validUntil: f.validUntil,
  originConfidence: $rows.originConfidence[i],
  originAt: datetime({epochMillis: $rows.originAt[i]})
})
CREATE (d)-[:DECAYED_FROM]->(f)
FOREACH (h IN [(l)-[h:HEAD]->() | h] | DELETE h)
CREATE (l)-[:HEAD]->(d)
FOREACH (e IN [(f)-[:ABOUT]->(e) | e] | CREATE (d)-[:ABOUT]->(e))
RETURN count(d) AS decayed
