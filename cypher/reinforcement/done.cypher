// purpose: Remove new memories from the reinforcement backlog.
// mode: write
// params: $rows.scope: List, $rows.id: List
// returns: done: Integer (one row)
// bound: a list of keys
// idempotent: by removing what is there
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.reinforceDue = null
RETURN count(m) AS done
