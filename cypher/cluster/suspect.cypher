// purpose: Queue the memories of a page that may change clusters, by a new threshold or as no longer live.
// mode: write
// params: $afterId: String, $afterScope: String, $threshold: Float, $now: Integer, $limit: Integer
// returns: memories: Integer, suspects: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by clusterDue
MATCH (m:Memory)
USING INDEX SEEK m:Memory(id)
WHERE m.id >= $afterId AND (m.id > $afterId OR coalesce(toStringOrNull(m.scope), '') > $afterScope)
WITH m, m.id AS id, coalesce(toStringOrNull(m.scope), '') AS scope
ORDER BY id, scope
LIMIT $limit
WITH m, id, scope, m:EbbMemory AND (EXISTS { (m)-[:BELONGS_TO]->(:SemanticCluster) }
  OR EXISTS { MATCH (m)-[c:COACTIVATED]-(:EbbMemory) WHERE c.weight > $threshold }) AS suspect
FOREACH (_ IN CASE WHEN suspect THEN [1] ELSE [] END |
  SET m.clusterDue = coalesce(m.clusterDue, datetime({epochMillis: $now})))
WITH count(*) AS memories, sum(CASE WHEN suspect THEN 1 ELSE 0 END) AS suspects, max([id, scope]) AS last
RETURN memories, suspects, last[0] AS lastId, last[1] AS lastScope
