// purpose: Create memories, each joined to the session it was made in and to the entities it mentions.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.content: List, $rows.tier: List, $rows.energy: List, $rows.energyAt: List, $rows.lastAccessed: List, $rows.accessCount: List, $rows.ripeAt: List, $rows.dueAt: List, $rows.pinned: List, $rows.created: List, $rows.session: List, $rows.instance: List, $rows.at: List, $rows.count: List, $rows.mentions: List, $rows.embedding: List, $embeds: Boolean
// returns: nothing
// bound: a list of keys
// idempotent: by the id, unique in its scope, and by the receipt of its transaction
//
// Sessions and entities exist already. $rows.at and $rows.count give the time and number of accesses of the memory by
// the session in this batch; the pair is not yet counted for co-activation, for which the session waits. Instants are
// epoch milliseconds, null where there is none; a memory that is not pinned has no such property, nor one without an
// embedding. It is queued to reinforce similar ones, and to be embedded if $embeds and it has no embedding: then it reinforces
// once it is embedded (embedding/write), or a day later by its text. This is one statement, because a new memory has no
// relationship to look for.
UNWIND range(0, size($rows.id) - 1) AS i
CREATE (m:Memory:EbbMemory {
  id: $rows.id[i],
  scope: $rows.scope[i],
  content: $rows.content[i],
  tier: $rows.tier[i],
  energy: $rows.energy[i],
  energyAt: datetime({epochMillis: $rows.energyAt[i]}),
  lastAccessed: datetime({epochMillis: $rows.lastAccessed[i]}),
  accessCount: $rows.accessCount[i],
  ripeAt: CASE WHEN $rows.ripeAt[i] IS NULL THEN null ELSE datetime({epochMillis: $rows.ripeAt[i]}) END,
  dueAt: CASE WHEN $rows.dueAt[i] IS NULL THEN null ELSE datetime({epochMillis: $rows.dueAt[i]}) END,
  pinned: CASE WHEN $rows.pinned[i] THEN true END,
  created: datetime({epochMillis: $rows.created[i]}),
  sessionId: $rows.session[i],
  instanceId: $rows.instance[i],
  reinforceDue: datetime({epochMillis: $rows.created[i] + CASE WHEN $embeds AND $rows.embedding[i] IS NULL THEN 86400000 ELSE 0 END}),
  embedding: $rows.embedding[i],
  embedDue: CASE WHEN $embeds AND $rows.embedding[i] IS NULL THEN datetime({epochMillis: $rows.created[i]}) END
})
WITH m, i
CALL (m, i) {
  MATCH (s:Session {scope: $rows.scope[i], id: $rows.session[i]})
  USING INDEX SEEK s:Session(scope, id)
  CREATE (m)-[:ACCESSED_IN {at: datetime({epochMillis: $rows.at[i]}), count: $rows.count[i], counted: false}]->(s)
  SET s.coactivateDue = s.started
}
CALL (m, i) {
  UNWIND $rows.mentions[i] AS name
  MATCH (e:EbbEntity {scope: $rows.scope[i], name: name})
  USING INDEX SEEK e:EbbEntity(scope, name)
  CREATE (m)-[:MENTIONS]->(e)
}
