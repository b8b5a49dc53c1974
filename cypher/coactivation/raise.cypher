// purpose: Increase the weights of pairs of memories by the sessions that newly count both.
// mode: write
// params: $rows.scope: List, $rows.a: List, $rows.b: List, $rows.gain: List, $rows.first: List, $rows.last: List, $threshold: Float, $now: Integer
// returns: pairs: Integer (one row)
// bound: a list of pairs, whose memories this transaction has locked
// idempotent: by the marks that its transaction sets on the accesses
//
// Both ends of a pair above the threshold are queued for the cluster job.
UNWIND range(0, size($rows.a) - 1) AS i
MATCH (a:Memory {scope: $rows.scope[i], id: $rows.a[i]})
USING INDEX SEEK a:Memory(scope, id)
MATCH (b:Memory {scope: $rows.scope[i], id: $rows.b[i]})
USING INDEX SEEK b:Memory(scope, id)
MERGE (a)-[c:COACTIVATED]->(b)
SET c.weight = CASE WHEN 0 <= c.weight <= 1000000000000 THEN toInteger(c.weight) ELSE 0 END + $rows.gain[i],
  c.firstCoactivation = CASE
    WHEN c.firstCoactivation <= datetime({epochMillis: $rows.first[i]}) THEN c.firstCoactivation
    ELSE datetime({epochMillis: $rows.first[i]})
  END,
  c.lastCoactivation = CASE
    WHEN c.lastCoactivation >= datetime({epochMillis: $rows.last[i]}) THEN c.lastCoactivation
    ELSE datetime({epochMillis: $rows.last[i]})
  END
FOREACH (_ IN CASE WHEN c.weight > $threshold THEN [1] ELSE [] END |
  SET a.clusterDue = datetime({epochMillis: $now}), b.clusterDue = datetime({epochMillis: $now}))
RETURN count(c) AS pairs
