// purpose: Move the history and the mentions of a memory that is about to be deleted to another one; this transaction has locked both.
// mode: write
// params: $scope: String, $id: String, $duplicate: String, $at: Integer, $kept: Integer
// returns: kept: Integer (one row)
// bound: two keys, the versions and mentions of one memory, and the versions of the other beyond $kept
// idempotent: by the receipt of its transaction
//
// What the duplicate said becomes a version of the other memory, and so do its own versions, each with its id as mergedFrom.
MATCH (m:Memory {scope: $scope, id: $id})
USING INDEX SEEK m:Memory(scope, id)
MATCH (d:Memory {scope: $scope, id: $duplicate})
USING INDEX SEEK d:Memory(scope, id)
WITH m, d, [(d)-[r:PREVIOUS_VERSION]->(:EbbVersion) | r] AS former,
  [(d)-[:MENTIONS]->(e:Entity) WHERE e.scope = $scope | e] AS mentioned
CREATE (m)-[:PREVIOUS_VERSION]->(:EbbVersion {
  scope: $scope,
  content: d.content,
  tags: d.tags,
  metadata: d.metadata,
  since: coalesce(d.updated, d.created),
  until: datetime({epochMillis: $at}),
  mergedFrom: d.id
})
FOREACH (v IN [r IN former | endNode(r)] | SET v.mergedFrom = coalesce(v.mergedFrom, d.id) CREATE (m)-[:PREVIOUS_VERSION]->(v))
FOREACH (r IN former | DELETE r)
FOREACH (e IN mentioned | MERGE (m)-[:MENTIONS]->(e))
WITH m
CALL (m) {
  MATCH (m)-[:PREVIOUS_VERSION]->(v:EbbVersion)
  WITH v ORDER BY v.until DESC, v.since DESC, v.mergedFrom, v.content
  WITH collect(v) AS versions
  FOREACH (v IN versions[$kept..] | DETACH DELETE v)
  RETURN size(versions[..$kept]) AS kept
}
RETURN kept
