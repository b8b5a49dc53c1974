// purpose: Find the greatest number of a node.
// mode: read
// params: none
// returns: last: Integer (one row; -1 in an empty database)
//
// The nodes of a backup are read by ranges of their numbers, so that no transaction grows with the graph. The function id is
// deprecated for elementId, by which no range can be sought.
MATCH (n)
RETURN coalesce(max(id(n)), -1) AS last
