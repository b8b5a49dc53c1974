// purpose: Check which of these pairs of nodes have an edge, in either direction.
// mode: read
// params: $rows.from: List, $rows.to: List
// returns: row: Integer (the place in the list of each pair that an edge joins)
// names: :HALL
//
// Nothing is locked here: the rows found are locked afterwards, places first, and checked again.
UNWIND range(0, size($rows.from) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.from[i]
MATCH (b)
WHERE elementId(b) = $rows.to[i]
MATCH (a)-[r:HALL]-(b)
RETURN DISTINCT i AS row
