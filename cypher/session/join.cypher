// purpose: Record the number of accesses of memories in sessions, and the last of each.
// mode: write
// params: $rows.scope: List, $rows.memory: List, $rows.session: List, $rows.at: List, $rows.count: List
// returns: nothing
// bound: a list of pairs
// idempotent: by the receipt of its transaction
//
// A new pair is not yet counted for co-activation, for which its session waits from its start; a counted pair stays
// counted, since weights count sessions.
UNWIND range(0, size($rows.memory) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.memory[i]})
USING INDEX SEEK m:Memory(scope, id)
MATCH (s:Session {scope: $rows.scope[i], id: $rows.session[i]})
USING INDEX SEEK s:Session(scope, id)
MERGE (m)-[a:ACCESSED_IN]->(s)
ON CREATE SET a.at = datetime({epochMillis: $rows.at[i]}), a.count = $rows.count[i], a.counted = false,
  s.coactivateDue = s.started
ON MATCH SET
  a.at = CASE WHEN a.at > datetime({epochMillis: $rows.at[i]}) THEN a.at ELSE datetime({epochMillis: $rows.at[i]}) END,
  a.count = CASE WHEN 0 <= a.count <= 1000000000000 THEN toInteger(a.count) ELSE 0 END + $rows.count[i],
  a.counted = coalesce(a.counted, false)
