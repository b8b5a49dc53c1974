// purpose: Release quarantined relations for adoption or a pass, which checks them again.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
//
// A relation with a key was quarantined by a pass, which checks its values again each time, but not whether a statement
// still fails on it.
MATCH ()-[r:RELATES_TO]->()
WHERE r.ebbKey IS NULL AND r.ebbReason IS NOT NULL OR r.ebbReason CONTAINS ' failed on it: '
WITH r
LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbReason
RETURN count(r) AS released
