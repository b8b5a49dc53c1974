// purpose: Quarantine a session with the reason, with unchanged values.
// mode: write
// params: $scope: String, $id: String, $reason: String
// returns: quarantined: Integer (one row)
// bound: one key
// idempotent: by the label
//
// It stays in the backlog, so that it is counted once it is released.
MATCH (s:Session {scope: $scope, id: $id})
USING INDEX SEEK s:Session(scope, id)
SET s:EbbQuarantined, s.ebbReason = $reason
RETURN count(s) AS quarantined
