// purpose: Make facts the heads of their locked lineages.
// mode: write
// params: $rows.key: List, $rows.id: List
// returns: nothing
// bound: a list of keys
// idempotent: by what it leaves: one head
UNWIND range(0, size($rows.key) - 1) AS i
MATCH (l:EbbLineage {key: $rows.key[i]})
USING INDEX SEEK l:EbbLineage(key)
MATCH (f:Fact {scope: l.scope, id: $rows.id[i]})
USING INDEX SEEK f:Fact(scope, id)
FOREACH (h IN [(l)-[h:HEAD]->() | h] | DELETE h)
CREATE (l)-[:HEAD]->(f)
