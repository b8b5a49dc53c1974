// purpose: Create relations between existing entities.
// mode: write
// params: $rows.key: List, $rows.scope: List, $rows.from: List, $rows.to: List, $rows.type: List, $rows.base: List, $rows.weightAt: List, $rows.lastObserved: List, $rows.pinned: List, $rows.created: List
// returns: nothing
// bound: a list of keys
// idempotent: by the unique key, and by the receipt of its transaction
//
// Created, not merged: merging relationships by a unique key deadlocks where several writers share entities.
UNWIND range(0, size($rows.key) - 1) AS i
MATCH (a:EbbEntity {scope: $rows.scope[i], name: $rows.from[i]})
USING INDEX SEEK a:EbbEntity(scope, name)
MATCH (b:EbbEntity {scope: $rows.scope[i], name: $rows.to[i]})
USING INDEX SEEK b:EbbEntity(scope, name)
CREATE (a)-[r:RELATES_TO {
  ebbKey: $rows.key[i],
  type: $rows.type[i],
  weight: $rows.base[i],
  baseWeight: $rows.base[i],
  weightAt: datetime({epochMillis: $rows.weightAt[i]}),
  lastObserved: datetime({epochMillis: $rows.lastObserved[i]}),
  pinned: $rows.pinned[i],
  created: datetime({epochMillis: $rows.created[i]})
}]->(b)
