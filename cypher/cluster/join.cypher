// purpose: Let memories belong to clusters.
// mode: write
// params: $memory: List, $cluster: List
// returns: joined: Integer (one row)
// bound: a list of pairs
// idempotent: by MERGE of the pair
UNWIND range(0, size($memory) - 1) AS i
MATCH (m:Memory {id: $memory[i]})
MATCH (c:SemanticCluster {id: $cluster[i]})
MERGE (m)-[:BELONGS_TO]->(c)
RETURN count(m) AS joined
