// purpose: Write clusters: new ones, those that came back, and those whose key, strength or size is another now.
// mode: write
// params: $id: List, $key: List, $strength: List, $size: List, $now: Integer
// returns: formed: Integer (one row)
// bound: a list of ids
// idempotent: by the unique id
UNWIND range(0, size($id) - 1) AS i
MERGE (c:SemanticCluster {id: $id[i]})
WITH i, c, c.formed IS NULL OR c.dissolved IS NOT NULL AS forms
SET c.key = $key[i],
  c.strength = $strength[i],
  c.size = $size[i],
  c.formed = CASE WHEN forms THEN datetime({epochMillis: $now}) ELSE c.formed END,
  c.dissolved = null
RETURN sum(CASE WHEN forms THEN 1 ELSE 0 END) AS formed
