// purpose: Remove memories from clusters.
// mode: write
// params: $rows.scope: List, $rows.memory: List, $rows.cluster: List
// returns: left: Integer (one row)
// bound: a list of pairs
// idempotent: by deleting what is there
UNWIND range(0, size($rows.memory) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.memory[i]})-[b:BELONGS_TO]->(c:SemanticCluster {scope: $rows.scope[i], id: $rows.cluster[i]})
USING INDEX SEEK m:Memory(scope, id)
DELETE b
RETURN count(*) AS left
