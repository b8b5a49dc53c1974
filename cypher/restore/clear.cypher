// purpose: Delete a page of nodes that a restore wrote before it was broken off.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by their absence
MATCH (n:EbbRestored)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS rows
