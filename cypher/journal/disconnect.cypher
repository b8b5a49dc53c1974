// purpose: Remove relationships between rows that this transaction has locked.
// mode: write
// params: $rows.starts: List, $rows.ends: List
// returns: disconnected: Integer (number of starts; one row)
// bound: a list of relationships
// idempotent: by what is left
// names: :HALL
UNWIND range(0, size($rows.starts) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.starts[i]
FOREACH (r IN [(a)-[r:HALL]->(b) WHERE elementId(b) = $rows.ends[i] | r] | DELETE r)
RETURN count(a) AS disconnected
