// purpose: Count the edges of a type.
// mode: read
// params: none
// returns: count: Integer (one row)
// names: :HALL
//
// Answered by the count store, whatever the size of the graph.
MATCH ()-[r:HALL]->()
RETURN count(r) AS count
