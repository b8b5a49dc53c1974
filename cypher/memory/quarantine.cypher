// purpose: Set memories aside with the reason, their values as they are.
// mode: write
// params: $id: List, $reason: List
// returns: quarantined: Integer (one row)
// bound: a list of ids
// idempotent: by the label
UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {id: $id[i]})
SET m:EbbQuarantined, m.ebbReason = $reason[i]
RETURN count(m) AS quarantined
