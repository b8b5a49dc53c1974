// purpose: Record that a session has ended.
// mode: write
// params: $scope: String, $id: String, $at: Integer
// returns: ended: Integer (one row; 0 for a session that does not exist)
// bound: one key
// idempotent: by keeping the later of two ends
MATCH (s:Session {scope: $scope, id: $id})
USING INDEX SEEK s:Session(scope, id)
SET s.ended = CASE WHEN s.ended > datetime({epochMillis: $at}) THEN s.ended ELSE datetime({epochMillis: $at}) END
RETURN count(s) AS ended
