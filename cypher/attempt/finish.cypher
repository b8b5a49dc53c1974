// purpose: End an attempt: remove its marks and write its state and counts as the receipt.
// mode: write
// params: $id: String, $state: String, $applied: Integer
// returns: marks: Integer (one row; none if it is over, or may not become that)
// bound: one key, with the marks of one claim
// idempotent: by the state
// law: domain::attempt::step
//
// $state may be claimed, for an attempt that claims and applies in the same transaction.
MATCH (a:ConsolidationAttempt {id: $id})
USING INDEX SEEK a:ConsolidationAttempt(id)
SET a.lock = true
WITH a
WHERE a.state IN CASE $state WHEN 'claimed' THEN ['planned'] WHEN 'done' THEN ['claimed'] ELSE ['planned', 'claimed'] END
CALL (a) {
  OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a)
  DELETE c
  RETURN count(c) AS marks
}
SET a.state = $state, a.applied = $applied
RETURN marks
