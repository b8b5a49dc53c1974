// purpose: End an attempt: marks removed, state and counts written as the receipt.
// mode: write
// params: $id: String, $state: String, $applied: Integer, $conflicts: Integer
// returns: marks: Integer (one row)
// bound: one key, with the marks of one claim
// idempotent: by the state
MATCH (a:ConsolidationAttempt {id: $id})
SET a.lock = true
WITH a
CALL (a) {
  OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a)
  DELETE c
  RETURN count(c) AS marks
}
SET a.state = CASE WHEN a.state IN ['done', 'aborted', 'expired'] THEN a.state ELSE $state END,
  a.applied = $applied, a.conflicts = $conflicts
RETURN marks
