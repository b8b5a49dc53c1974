// purpose: Create relationships between rows that this transaction has locked or created.
// mode: write
// params: $rows.starts: List, $rows.ends: List, $rows.properties: List
// returns: connected: Integer (one row)
// bound: a list of relationships
// idempotent: by the comparison before it, under the lock of the start
// names: :HALL
UNWIND range(0, size($rows.starts) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.starts[i]
MATCH (b)
WHERE elementId(b) = $rows.ends[i] AND (b:Memory OR b:SemanticCluster OR b:Fact OR b:Entity) AND coalesce(b.scope, a.scope) = a.scope
CREATE (a)-[r:HALL]->(b)
SET r = $rows.properties[i]
RETURN count(r) AS connected
