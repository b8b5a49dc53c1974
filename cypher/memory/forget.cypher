// purpose: Delete a memory with its versions and stubs, and write a tombstone that prevents its return.
// mode: write
// params: $scope: String, $id: String, $hash: String, $at: Integer
// returns: memories: Integer, stubs: Integer, clusters: List (one row; clusters are those that were dissolved)
// bound: one key, with the versions and the stubs of one memory
// idempotent: by the tombstone
//
// Another member of its cluster is queued for the cluster job, which updates the cluster; one without other members is
// dissolved. A living memory that a writer joined to it as if it were its stub stays. Memories that other writers made count if
// they have the documented shape, whether taken over or not.
MERGE (t:EbbTombstone {hash: $hash})
ON CREATE SET t.at = datetime({epochMillis: $at}), t.scope = $scope
WITH t
OPTIONAL MATCH (m:Memory {scope: $scope, id: $id})
USING INDEX SEEK m:Memory(scope, id)
OPTIONAL MATCH (s:Memory)-[:PROMOTED_TO|CRYSTALLIZED_INTO]->(m)
WHERE coalesce(s.tier, '') IN ['archivedWorking', 'archivedShortTerm'] AND (s:EbbMemory OR s.id IS NOT NULL AND s.content IS NOT NULL)
OPTIONAL MATCH (m)-[:PREVIOUS_VERSION]->(v:EbbVersion)
WITH collect(DISTINCT m) AS memories, collect(DISTINCT s) AS stubs, collect(DISTINCT v) AS versions
CALL (memories) {
  UNWIND memories AS m
  MATCH (m)-[:BELONGS_TO]->(:SemanticCluster)<-[:BELONGS_TO]-(o:Memory)
  WHERE o:EbbMemory OR o.id IS NOT NULL AND o.content IS NOT NULL AND (o.tier IS NOT NULL OR o.energy IS NOT NULL)
  WITH o LIMIT 1
  SET o.clusterDue = datetime({epochMillis: $at})
}
CALL (memories) {
  UNWIND memories AS m
  MATCH (m)-[:BELONGS_TO]->(c:SemanticCluster)
  WHERE c.dissolved IS NULL AND NOT EXISTS { MATCH (c)<-[:BELONGS_TO]-(o:Memory)
    WHERE o <> m AND (o:EbbMemory OR o.id IS NOT NULL AND o.content IS NOT NULL AND (o.tier IS NOT NULL OR o.energy IS NOT NULL)) }
  WITH c LIMIT 1
  SET c.dissolved = datetime({epochMillis: $at}), c.size = 0
  RETURN collect(toStringOrNull(c.id)) AS clusters
}
FOREACH (n IN versions | DETACH DELETE n)
FOREACH (n IN memories | DETACH DELETE n)
FOREACH (n IN stubs | DETACH DELETE n)
RETURN size(memories) AS memories, size(stubs) AS stubs, clusters
