// purpose: Quarantine facts of a scope with the reason, with unchanged values.
// mode: write
// params: $scope: String, $rows.id: List, $rows.reason: List
// returns: quarantined: Integer (one row)
// bound: a list of ids
// idempotent: by the label
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (f:Fact {scope: $scope, id: $rows.id[i]})
USING INDEX SEEK f:Fact(scope, id)
SET f:EbbQuarantined, f.ebbReason = $rows.reason[i]
RETURN count(f) AS quarantined
