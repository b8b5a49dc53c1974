// purpose: Count the places of a label.
// mode: read
// params: none
// returns: count: Integer (one row)
// names: :Room
//
// Read from the count store, so the cost does not depend on the size of the graph.
MATCH (n:Room)
RETURN count(n) AS count
