// purpose: Count the edges of a type.
// mode: read
// params: none
// returns: count: Integer (one row)
// names: :HALL
//
// Read from the count store, so the cost does not depend on the size of the graph.
MATCH ()-[r:HALL]->()
RETURN count(r) AS count
