// purpose: Let memories belong to clusters no longer.
// mode: write
// params: $rows.memory: List, $rows.cluster: List
// returns: left: Integer (one row)
// bound: a list of pairs
// idempotent: by deleting what is there
UNWIND range(0, size($rows.memory) - 1) AS i
MATCH (m:Memory {id: $rows.memory[i]})-[b:BELONGS_TO]->(c:SemanticCluster {id: $rows.cluster[i]})
DELETE b
RETURN count(*) AS left
