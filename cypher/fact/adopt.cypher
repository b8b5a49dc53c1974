// purpose: Adopt facts of other writers, or quarantine them.
// mode: write
// params: $rows.element: List, $rows.id: List, $rows.scope: List, $rows.entity: List, $rows.valueType: List, $rows.confidence: List, $rows.assertedAt: List, $rows.fault: List
// returns: adopted: Integer, quarantined: Integer (one row)
// bound: a list of elements
// idempotent: by the label EbbFact
//
// Missing values get those of a new fact, and of an invalid one the id alone, by which its scope finds it; existing values
// are kept. Entities exist already, but for those that
// would stand among entities of another library: such a fact is about none, and not listed by its entity.
UNWIND range(0, size($rows.element) - 1) AS i
MATCH (f:Fact)
WHERE elementId(f) = $rows.element[i]
SET f.ebbLock = true
WITH f, i, $rows.fault[i] AS fault
WHERE NOT f:EbbFact
SET f:EbbFact
FOREACH (_ IN CASE WHEN fault IS NOT NULL THEN [1] ELSE [] END |
  SET f:EbbQuarantined, f.ebbReason = fault, f.id = coalesce(f.id, $rows.id[i]))
FOREACH (_ IN CASE WHEN fault IS NULL THEN [1] ELSE [] END |
  SET f.id = $rows.id[i], f.scope = $rows.scope[i], f.confidence = $rows.confidence[i],
    f.valueType = coalesce(f.valueType, $rows.valueType[i]),
    f.assertedAt = coalesce(f.assertedAt, datetime({epochMillis: $rows.assertedAt[i]})))
WITH f, i, fault
CALL (f, i, fault) {
  MATCH (e:EbbEntity {scope: $rows.scope[i], name: $rows.entity[i]})
  USING INDEX SEEK e:EbbEntity(scope, name)
  WHERE fault IS NULL AND NOT EXISTS { (f)-[:ABOUT]->(e) }
  CREATE (f)-[:ABOUT]->(e)
}
RETURN sum(CASE WHEN fault IS NULL THEN 1 ELSE 0 END) AS adopted, sum(CASE WHEN fault IS NULL THEN 0 ELSE 1 END) AS quarantined
