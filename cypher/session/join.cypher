// purpose: Record that memories were accessed in sessions: how often, and when last.
// mode: write
// params: $scope: List, $memory: List, $session: List, $at: List, $count: List
// returns: joined: Integer (one row)
// bound: a list of pairs
// idempotent: by the receipt of its transaction
//
// A new pair is not yet counted for co-activation, for which its session waits, since it began; one that was counted stays
// so, since weights count sessions.
UNWIND range(0, size($memory) - 1) AS i
MATCH (m:Memory {id: $memory[i]})
MATCH (s:Session {scope: $scope[i], id: $session[i]})
MERGE (m)-[a:ACCESSED_IN]->(s)
ON CREATE SET a.at = datetime({epochMillis: $at[i]}), a.count = $count[i], a.counted = false,
  s.coactivateDue = s.started
ON MATCH SET
  a.at = CASE WHEN a.at > datetime({epochMillis: $at[i]}) THEN a.at ELSE datetime({epochMillis: $at[i]}) END,
  a.count = coalesce(a.count, 0) + $count[i],
  a.counted = coalesce(a.counted, false)
RETURN count(a) AS joined
