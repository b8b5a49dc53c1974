// purpose: Create memories, each joined to the session it was made in and to the entities it mentions.
// mode: write
// params: $scope: List, $id: List, $content: List, $tier: List, $energy: List, $energyAt: List, $lastAccessed: List, $accessCount: List, $ripeAt: List, $dueAt: List, $pinned: List, $created: List, $session: List, $instance: List, $at: List, $count: List, $mentions: List, $embedding: List
// returns: created: Integer (one row)
// bound: a list of ids
// idempotent: by the unique id, and by the receipt of its transaction
//
// Sessions and entities exist already. $at and $count say when and how often the session touched the memory in this
// batch; the pair is not yet counted for co-activation, for which the session waits. Instants are epoch milliseconds, null
// where there is none; a memory that is not pinned has no such property, nor one without an embedding. It waits to
// strengthen what is like it. One statement, because a new memory has no relationship to look for.
UNWIND range(0, size($id) - 1) AS i
CREATE (m:Memory:EbbStamped {
  id: $id[i],
  scope: $scope[i],
  content: $content[i],
  tier: $tier[i],
  energy: $energy[i],
  energyAt: datetime({epochMillis: $energyAt[i]}),
  lastAccessed: datetime({epochMillis: $lastAccessed[i]}),
  accessCount: $accessCount[i],
  ripeAt: CASE WHEN $ripeAt[i] IS NULL THEN null ELSE datetime({epochMillis: $ripeAt[i]}) END,
  dueAt: CASE WHEN $dueAt[i] IS NULL THEN null ELSE datetime({epochMillis: $dueAt[i]}) END,
  pinned: CASE WHEN $pinned[i] THEN true END,
  created: datetime({epochMillis: $created[i]}),
  sessionId: $session[i],
  instanceId: $instance[i],
  reinforceDue: datetime({epochMillis: $created[i]}),
  embedding: $embedding[i]
})
WITH m, i
CALL (m, i) {
  MATCH (s:Session {scope: $scope[i], id: $session[i]})
  CREATE (m)-[:ACCESSED_IN {at: datetime({epochMillis: $at[i]}), count: $count[i], counted: false}]->(s)
  SET s.coactivateDue = s.started
}
CALL (m, i) {
  UNWIND $mentions[i] AS name
  MATCH (e:Entity {scope: $scope[i], name: name})
  CREATE (m)-[:MENTIONS]->(e)
}
RETURN count(m) AS created
