// purpose: Take new memories off the list of those that are to strengthen what is like them.
// mode: write
// params: $rows.id: List
// returns: done: Integer (one row)
// bound: a list of ids
// idempotent: by removing what is there
UNWIND $rows.id AS id
MATCH (m:Memory {id: id})
SET m.reinforceDue = null
RETURN count(m) AS done
