// purpose: Create edges of a type between locked places.
// mode: write
// params: $rows.from: List, $rows.to: List, $rows.base: List, $rows.row: List
// returns: element: String, row: Integer (a row for each)
// bound: a list of pairs of places
// idempotent: by the receipt of its transaction, which holds both ends
// names: :HALL
UNWIND range(0, size($rows.from) - 1) AS i
MATCH (a)
WHERE elementId(a) = $rows.from[i]
MATCH (b)
WHERE elementId(b) = $rows.to[i]
CREATE (a)-[r:HALL {base_cost: $rows.base[i], current_cost: $rows.base[i]}]->(b)
RETURN elementId(r) AS element, $rows.row[i] AS row
