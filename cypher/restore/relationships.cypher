// purpose: Create relationships of a backup between nodes that were created from it.
// mode: write
// params: $rows.kind: List, $rows.from: List, $rows.to: List, $rows.values: List
// returns: created: Integer (one row; those that have their type)
// bound: a list of rows
// idempotent: by the receipt of its transaction
//
// Neo4j before 5.26.4 gives all relationships that a plan creates the type of the first.
UNWIND range(0, size($rows.kind) - 1) AS i
MATCH (a:EbbRestored {ebbRestored: $rows.from[i]})
USING INDEX SEEK a:EbbRestored(ebbRestored)
MATCH (b:EbbRestored {ebbRestored: $rows.to[i]})
USING INDEX SEEK b:EbbRestored(ebbRestored)
CREATE (a)-[r:$($rows.kind[i])]->(b)
SET r = $rows.values[i]
RETURN count(CASE type(r) WHEN $rows.kind[i] THEN r END) AS created
