// purpose: Mark accesses as counted, and end the wait of sessions whose accesses are all counted.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.memory: List, $rows.done: List, $rows.all: List, $limit: Integer
// returns: counted: Integer (one row)
// bound: a list of sessions, of each at most $limit accesses
// idempotent: by the mark
//
// Those of $rows.memory come first: their pairs have gained. $rows.done says for which sessions every access is now counted,
// including those beyond the members that count;
// $rows.all is the number of accesses of each when it was read, so that an access that another writer adds unseen is
// found by the difference.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (s:Session {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK s:Session(scope, id)
CALL (s, i) {
  MATCH (s)<-[a:ACCESSED_IN]-(m:Memory)
  WHERE NOT coalesce(a.counted = true, false) AND ($rows.done[i] OR m.id IN $rows.memory[i]) AND m:EbbMemory AND NOT m:EbbQuarantined
  WITH a, m.id IN $rows.memory[i] AS gained
  ORDER BY gained DESC
  LIMIT $limit
  SET a.counted = true
  RETURN count(a) AS marked
}
WITH i, s, marked, CASE WHEN $rows.done[i] THEN $rows.all[i] - CASE WHEN 0 <= s.coactivated <= 1000000000000 THEN toInteger(s.coactivated) ELSE 0 END ELSE 0 END AS more
FOREACH (_ IN CASE WHEN $rows.done[i] THEN [1] ELSE [] END |
  SET s.coactivated = $rows.all[i], s.coactivateDue = null)
WITH sum(marked) AS counted, sum(more) AS more
MERGE (c:EbbCounter {name: 'progress:coactivate'})
SET c.accesses = CASE WHEN 0 <= c.accesses <= 1000000000000 THEN toInteger(c.accesses) ELSE 0 END + more
RETURN counted
