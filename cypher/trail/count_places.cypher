// purpose: Count the places of a label.
// mode: read
// params: none
// returns: count: Integer (one row)
// names: :Room
//
// Answered by the count store, whatever the size of the graph.
MATCH (n:Room)
RETURN count(n) AS count
