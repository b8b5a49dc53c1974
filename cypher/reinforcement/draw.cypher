// purpose: Create the relationships from new memories to the locked ones that they have reinforced.
// mode: write
// params: $rows.scope: List, $rows.new: List, $rows.old: List, $rows.strength: List, $now: Integer
// returns: drawn: Integer (one row)
// bound: a list of pairs
// idempotent: by MERGE of the pair, each of which its transaction has found undrawn
UNWIND range(0, size($rows.new) - 1) AS i
MATCH (n:Memory {scope: $rows.scope[i], id: $rows.new[i]})
USING INDEX SEEK n:Memory(scope, id)
MATCH (o:Memory {scope: $rows.scope[i], id: $rows.old[i]})
USING INDEX SEEK o:Memory(scope, id)
MERGE (n)-[r:REINFORCES]->(o)
SET r.strength = $rows.strength[i],
  r.at = datetime({epochMillis: $now}),
  o.reinforcementCount = CASE WHEN 0 <= o.reinforcementCount <= 1000000000000 THEN toInteger(o.reinforcementCount) ELSE 0 END + 1,
  o.lastReinforced = CASE
    WHEN o.lastReinforced >= datetime({epochMillis: $now}) THEN o.lastReinforced
    ELSE datetime({epochMillis: $now})
  END
RETURN count(r) AS drawn
