// purpose: Leave the record of a promotion beside each memory that rose.
// mode: write
// params: $id: List, $stub: List, $key: List, $archived: List, $energy: List, $at: Integer
// returns: stubs: Integer (one row)
// bound: a list of ids
// idempotent: by the unique promotionKey and the unique id of the stub
//
// The memory keeps its node. The stub carries what it was: the tier it left, its energy then, its dates and accesses.
UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {id: $id[i]})
CREATE (s:Memory:EbbStamped {
  id: $stub[i],
  promotionKey: $key[i],
  tier: $archived[i],
  energy: $energy[i],
  scope: m.scope,
  created: m.created,
  lastAccessed: m.lastAccessed,
  accessCount: m.accessCount
})
SET m.promotedFrom = $stub[i]
FOREACH (_ IN CASE WHEN $archived[i] = 'archivedWorking' THEN [1] ELSE [] END |
  CREATE (s)-[:PROMOTED_TO {at: datetime({epochMillis: $at}), energy: $energy[i]}]->(m))
FOREACH (_ IN CASE WHEN $archived[i] = 'archivedShortTerm' THEN [1] ELSE [] END |
  CREATE (s)-[:CRYSTALLIZED_INTO {at: datetime({epochMillis: $at}), energy: $energy[i]}]->(m))
RETURN count(s) AS stubs
