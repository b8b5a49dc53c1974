// purpose: Say between which of these pairs of nodes there is an edge, whichever way it points.
// mode: read
// params: $rows.from: List, $rows.to: List
// returns: row: Integer (the place in the list of each pair that an edge joins)
// names: :HALL
//
// Nothing is locked here: what is found is locked after it, the places first, and looked at again.
UNWIND range(0, size($rows.from) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.from[i]
MATCH (b)
WHERE elementId(b) = $rows.to[i]
MATCH (a)-[r:HALL]-(b)
RETURN DISTINCT i AS row
