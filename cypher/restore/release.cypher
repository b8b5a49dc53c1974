// purpose: Remove the marks of a restore from a page of nodes.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the label
MATCH (n:EbbRestored)
WITH n LIMIT $limit
REMOVE n:EbbRestored, n.ebbRestored
RETURN count(*) AS rows
