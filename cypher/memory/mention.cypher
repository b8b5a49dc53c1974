// purpose: Record the entities that memories mention, once for each pair.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.name: List
// returns: nothing
// bound: a list of pairs
// idempotent: by MERGE of the pair
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
MATCH (e:EbbEntity {scope: $rows.scope[i], name: $rows.name[i]})
USING INDEX SEEK e:EbbEntity(scope, name)
MERGE (m)-[:MENTIONS]->(e)
