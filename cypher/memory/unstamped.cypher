// purpose: Count memories and those that Ebb has adopted.
// mode: read
// params: none
// returns: memories: Integer, stamped: Integer (one row)
//
// Both come from the count store, so the cost does not grow with the graph.
CALL () { MATCH (m:Memory) RETURN count(m) AS memories }
CALL () { MATCH (s:EbbStamped) RETURN count(s) AS stamped }
RETURN memories, stamped
