// purpose: Write clusters that are new, were re-formed, or changed in key, strength or size.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.key: List, $rows.strength: List, $rows.size: List, $now: Integer
// returns: formed: Integer (one row)
// bound: a list of keys
// idempotent: by the id, unique in its scope
UNWIND range(0, size($rows.id) - 1) AS i
MERGE (c:SemanticCluster {scope: $rows.scope[i], id: $rows.id[i]})
WITH i, c, c.formed IS NULL OR c.dissolved IS NOT NULL AS forms
SET c.key = $rows.key[i],
  c.strength = $rows.strength[i],
  c.size = $rows.size[i],
  c.formed = CASE WHEN forms THEN datetime({epochMillis: $now}) ELSE c.formed END,
  c.dissolved = null
RETURN sum(CASE WHEN forms THEN 1 ELSE 0 END) AS formed
