// purpose: Count all nodes.
// mode: read
// params: none
// returns: count: Integer (one row)
//
// Read from the count store. A database without nodes has no duplicates, whose statement takes a second to plan.
MATCH (n)
RETURN count(n) AS count
