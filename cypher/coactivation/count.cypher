// purpose: Mark accesses as counted; a session of which all are counted waits no longer.
// mode: write
// params: $scope: List, $id: List, $memory: List, $done: List, $all: List, $limit: Integer
// returns: counted: Integer (one row)
// bound: a list of sessions, of each at most $limit accesses
// idempotent: by the mark
//
// $done says of which sessions every access is counted now, those beyond the members that count included; $all how many
// accesses each had when it was looked at, so that one that another writer adds unseen is found by the difference.
UNWIND range(0, size($id) - 1) AS i
MATCH (s:Session {scope: $scope[i], id: $id[i]})
CALL (s, i) {
  MATCH (s)<-[a:ACCESSED_IN]-(m:Memory)
  WHERE coalesce(a.counted, false) = false AND ($done[i] OR m.id IN $memory[i]) AND NOT m:EbbQuarantined
  WITH a LIMIT $limit
  SET a.counted = true
  RETURN count(a) AS marked
}
WITH i, s, marked, CASE WHEN $done[i] THEN $all[i] - coalesce(s.coactivated, 0) ELSE 0 END AS more
FOREACH (_ IN CASE WHEN $done[i] THEN [1] ELSE [] END |
  SET s.coactivated = $all[i], s.coactivateDue = null)
WITH sum(marked) AS counted, sum(more) AS more
MATCH (c:EbbCounter {name: 'job:coactivate'})
SET c.accesses = coalesce(c.accesses, 0) + more
RETURN counted
