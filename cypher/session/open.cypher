// purpose: Ensure that sessions exist, and that each began no later than its first known event.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.at: List
// returns: foreign: String (one row; an id that another library has a session of, or null)
// bound: a list of ids
// idempotent: by the unique (scope, id), and by keeping the earlier of two beginnings
//
// A session waits for co-activation from its start, so that the result does not depend on how events are cut into
// batches. A session of another library has no scope, and relationships to its own rows but not to memories; whatever
// finds it by its id alone would find a new one of Ebb's, too.
UNWIND range(0, size($rows.id) - 1) AS i
MERGE (s:Session {scope: $rows.scope[i], id: $rows.id[i]})
ON CREATE SET s.started = datetime({epochMillis: $rows.at[i]})
ON MATCH SET s.started = CASE
  WHEN s.started <= datetime({epochMillis: $rows.at[i]}) THEN s.started
  ELSE datetime({epochMillis: $rows.at[i]})
END
SET s.coactivateDue = CASE WHEN s.coactivateDue IS NOT NULL THEN s.started END
RETURN max(CASE WHEN NOT EXISTS { (s)<-[:ACCESSED_IN]-() } AND EXISTS {
    MATCH (o:Session {id: s.id})
    USING INDEX SEEK o:Session(id)
    WHERE o.scope IS NULL AND EXISTS { (o)--() } AND NOT EXISTS { (o)<-[:ACCESSED_IN]-(:Memory) }
  } THEN s.id END) AS foreign
