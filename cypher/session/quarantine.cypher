// purpose: Set a session aside with the reason, its values as they are.
// mode: write
// params: $scope: String, $id: String, $reason: String
// returns: quarantined: Integer (one row)
// bound: one key
// idempotent: by the label
//
// It waits on, so that it is counted once it is released.
MATCH (s:Session {scope: $scope, id: $id})
SET s:EbbQuarantined, s.ebbReason = $reason
RETURN count(s) AS quarantined
