// purpose: Create relationships of a backup between nodes that were created from it.
// mode: write
// params: $rows.kind: List, $rows.from: List, $rows.to: List, $rows.values: List
// returns: created: Integer, mistyped: Integer (one row; those of another type than theirs)
// bound: a list of rows
// idempotent: by the receipt of its transaction
//
// One whose end is not there is left out: the end was written after its page had been read. Neo4j before 5.26.4 gives all relationships that a plan creates the type of the first.
UNWIND range(0, size($rows.kind) - 1) AS i
MATCH (a:EbbRestored {ebbRestored: $rows.from[i]})
USING INDEX SEEK a:EbbRestored(ebbRestored)
MATCH (b:EbbRestored {ebbRestored: $rows.to[i]})
USING INDEX SEEK b:EbbRestored(ebbRestored)
CREATE (a)-[r:$($rows.kind[i])]->(b)
SET r = $rows.values[i]
RETURN count(r) AS created, count(CASE WHEN type(r) <> $rows.kind[i] THEN r END) AS mistyped
