// purpose: Give rows that were set aside back to adoption, which judges them anew.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the labels
MATCH (m:EbbQuarantined)
WITH m LIMIT $limit
SET m.ebbLock = true
REMOVE m:EbbQuarantined, m:EbbStamped, m.ebbReason
RETURN count(m) AS released
