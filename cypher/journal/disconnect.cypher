// purpose: Remove relationships between rows that this transaction has locked.
// mode: write
// params: $rows.starts: List, $rows.ends: List
// returns: disconnected: Integer (one row)
// bound: a list of relationships
// idempotent: by what is left
// names: :HALL
UNWIND range(0, size($rows.starts) - 1) AS i
MATCH (a)-[r:HALL]->(b)
WHERE elementId(a) = $rows.starts[i] AND elementId(b) = $rows.ends[i]
DELETE r
RETURN count(*) AS disconnected
