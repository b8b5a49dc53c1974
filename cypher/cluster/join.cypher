// purpose: Add memories to clusters.
// mode: write
// params: $rows.scope: List, $rows.memory: List, $rows.cluster: List
// returns: joined: Integer (one row)
// bound: a list of pairs
// idempotent: by MERGE of the pair
UNWIND range(0, size($rows.memory) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.memory[i]})
USING INDEX SEEK m:Memory(scope, id)
MATCH (c:SemanticCluster {scope: $rows.scope[i], id: $rows.cluster[i]})
USING INDEX SEEK c:SemanticCluster(scope, id)
MERGE (m)-[:BELONGS_TO]->(c)
RETURN count(m) AS joined
