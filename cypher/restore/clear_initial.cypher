// purpose: Delete a page of nodes that an initialisation writes: a backup contains its own.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by their absence
MATCH (n:EbbCounter|EbbSettings|ConsolidationConfig)
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS rows
