// purpose: Say how many memories there are and how many of them Ebb has seen.
// mode: read
// params: none
// returns: memories: Integer, stamped: Integer (one row)
//
// Both come from the count store: looking costs nothing that grows.
CALL () { MATCH (m:Memory) RETURN count(m) AS memories }
CALL () { MATCH (s:EbbStamped) RETURN count(s) AS stamped }
RETURN memories, stamped
