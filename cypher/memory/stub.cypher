// purpose: Create the record of a promotion beside each promoted memory.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.stub: List, $rows.key: List, $rows.archived: List, $rows.energy: List, $at: Integer
// returns: stubs: Integer (one row)
// bound: a list of keys
// idempotent: by the promotionKey and the id of the stub, each unique in its scope
//
// The memory keeps its node. The stub has its former tier, its energy then, its dates and its access count.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
CREATE (s:Memory:EbbMemory {
  id: $rows.stub[i],
  promotionKey: $rows.key[i],
  tier: $rows.archived[i],
  energy: $rows.energy[i],
  scope: m.scope,
  created: m.created,
  lastAccessed: m.lastAccessed,
  accessCount: m.accessCount
})
SET m.promotedFrom = $rows.stub[i]
FOREACH (_ IN CASE WHEN $rows.archived[i] = 'archivedWorking' THEN [1] ELSE [] END |
  CREATE (s)-[:PROMOTED_TO {at: datetime({epochMillis: $at}), energy: $rows.energy[i]}]->(m))
FOREACH (_ IN CASE WHEN $rows.archived[i] = 'archivedShortTerm' THEN [1] ELSE [] END |
  CREATE (s)-[:CRYSTALLIZED_INTO {at: datetime({epochMillis: $at}), energy: $rows.energy[i]}]->(m))
RETURN count(s) AS stubs
