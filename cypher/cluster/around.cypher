// purpose: Read whether memories of a scope are live, their clusters, and the live memories strongly paired with them.
// mode: read
// params: $scope: String, $rows.id: List, $threshold: Float
// returns: id: String, live: Boolean, clusters: List, unscoped: List, near: List, weights: List, elsewhere: Boolean (a row for each id that exists)
//
// unscoped are the ids of clusters that another writer made without a scope. elsewhere says whether a paired memory
// belongs to no cluster, to several, or to a different cluster.
UNWIND $rows.id AS id
MATCH (m:Memory {scope: $scope, id: id})
USING INDEX SEEK m:Memory(scope, id)
WITH m, coalesce(m.tier IN ['working', 'shortTerm', 'longTerm'], false) AND m:EbbMemory AND NOT m:EbbQuarantined AS live,
  [(m)-[:BELONGS_TO]->(k:SemanticCluster) | toStringOrNull(k.id)] AS clusters,
  [(m)-[:BELONGS_TO]->(k:SemanticCluster) WHERE k.scope IS NULL AND valueType(k.id) = 'STRING NOT NULL' | k.id] AS unscoped
CALL (m, live, clusters) {
  MATCH (m)-[c:COACTIVATED]-(o:Memory)
  WHERE live AND c.weight > $threshold AND NOT isNaN(toFloatOrNull(c.weight)) AND o.scope = m.scope AND o <> m
    AND coalesce(o.tier IN ['working', 'shortTerm', 'longTerm'], false) AND o:EbbMemory AND NOT o:EbbQuarantined
  WITH o.id AS near, toFloat(c.weight) AS weight,
    [(o)-[:BELONGS_TO]->(k:SemanticCluster) | toStringOrNull(k.id)] <> clusters AS apart
  WITH near, max(weight) AS weight, max(CASE WHEN apart THEN 1 ELSE 0 END) AS apart
  ORDER BY near
  RETURN collect(near) AS near, collect(weight) AS weights, coalesce(max(apart), 0) = 1 AS elsewhere
}
RETURN m.id AS id, live, clusters, unscoped, near, weights, elsewhere
