// purpose: Let memories belong to clusters.
// mode: write
// params: $rows.memory: List, $rows.cluster: List
// returns: joined: Integer (one row)
// bound: a list of pairs
// idempotent: by MERGE of the pair
//
// A cluster is of the scope of its members, which all are of one.
UNWIND range(0, size($rows.memory) - 1) AS i
MATCH (m:Memory {id: $rows.memory[i]})
MATCH (c:SemanticCluster {id: $rows.cluster[i]})
MERGE (m)-[:BELONGS_TO]->(c)
SET c.scope = m.scope
RETURN count(m) AS joined
