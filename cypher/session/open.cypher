// purpose: Make sure that sessions exist, and that each began no later than the first event of it that is known.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.at: List
// returns: sessions: Integer (one row)
// bound: a list of ids
// idempotent: by the unique (scope, id), and by keeping the earlier of two beginnings
//
// A session that waits for co-activation does so since it began: however events are cut into batches, that is the same.
UNWIND range(0, size($rows.id) - 1) AS i
MERGE (s:Session {scope: $rows.scope[i], id: $rows.id[i]})
ON CREATE SET s.started = datetime({epochMillis: $rows.at[i]})
ON MATCH SET s.started = CASE
  WHEN s.started <= datetime({epochMillis: $rows.at[i]}) THEN s.started
  ELSE datetime({epochMillis: $rows.at[i]})
END
SET s.coactivateDue = CASE WHEN s.coactivateDue IS NOT NULL THEN s.started END
RETURN count(s) AS sessions
