// purpose: Mark clusters as dissolved; what they were called is kept.
// mode: write
// params: $rows.id: List, $now: Integer
// returns: dissolved: Integer (one row)
// bound: a list of ids
// idempotent: by the mark
UNWIND $rows.id AS id
MATCH (c:SemanticCluster {id: id})
WHERE c.dissolved IS NULL
SET c.dissolved = datetime({epochMillis: $now}), c.size = 0
RETURN count(c) AS dissolved
