// purpose: Mark clusters as dissolved and keep their keys.
// mode: write
// params: $rows.scope: List, $rows.id: List, $now: Integer
// returns: dissolved: Integer (one row)
// bound: a list of keys
// idempotent: by the mark
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (c:SemanticCluster {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK c:SemanticCluster(scope, id)
WHERE c.dissolved IS NULL
SET c.dissolved = datetime({epochMillis: $now}), c.size = 0
RETURN count(c) AS dissolved
