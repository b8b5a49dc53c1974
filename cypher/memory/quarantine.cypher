// purpose: Quarantine memories with the reason, with unchanged values.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.reason: List
// returns: quarantined: Integer (one row)
// bound: a list of keys
// idempotent: by the label
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m:EbbQuarantined, m.ebbReason = $rows.reason[i]
RETURN count(m) AS quarantined
