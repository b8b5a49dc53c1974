// purpose: Put a page of memories on the list of those that the clusters are to look at, where they may belong elsewhere by another threshold, or live no longer.
// mode: write
// params: $after: String, $threshold: Float, $now: Integer, $limit: Integer
// returns: memories: Integer, suspects: Integer, last: String (one row)
// bound: $limit
// idempotent: by clusterDue
MATCH (m:Memory)
WHERE m.id > $after
WITH m
ORDER BY m.id
LIMIT $limit
WITH m, EXISTS { (m)-[:BELONGS_TO]->(:SemanticCluster) }
  OR EXISTS { MATCH (m)-[c:COACTIVATED]-(:Memory) WHERE c.weight > $threshold } AS suspect
FOREACH (_ IN CASE WHEN suspect THEN [1] ELSE [] END |
  SET m.clusterDue = coalesce(m.clusterDue, datetime({epochMillis: $now})))
RETURN count(*) AS memories, sum(CASE WHEN suspect THEN 1 ELSE 0 END) AS suspects, max(m.id) AS last
