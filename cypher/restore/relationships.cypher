// purpose: Create relationships of a backup between nodes that were created from it.
// mode: write
// params: $rows.kind: List, $rows.from: List, $rows.to: List, $rows.values: List
// returns: created: Integer (one row)
// bound: a list of rows
// idempotent: by the receipt of its transaction
UNWIND range(0, size($rows.kind) - 1) AS i
MATCH (a:EbbRestored {ebbRestored: $rows.from[i]})
USING INDEX SEEK a:EbbRestored(ebbRestored)
MATCH (b:EbbRestored {ebbRestored: $rows.to[i]})
USING INDEX SEEK b:EbbRestored(ebbRestored)
CREATE (a)-[r:$($rows.kind[i])]->(b)
SET r = $rows.values[i]
RETURN count(r) AS created
