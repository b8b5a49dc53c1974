// purpose: Set facts aside with the reason, their values as they are.
// mode: write
// params: $rows.id: List, $rows.reason: List
// returns: quarantined: Integer (one row)
// bound: a list of ids
// idempotent: by the label
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (f:Fact {id: $rows.id[i]})
SET f:EbbQuarantined, f.ebbReason = $rows.reason[i]
RETURN count(f) AS quarantined
