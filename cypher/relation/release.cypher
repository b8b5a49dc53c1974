// purpose: Release quarantined relations for adoption or a pass, which judge them anew.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
//
// One that has its key was quarantined by a pass, which judges its values anew at each time, but not whether a statement
// fails on it still.
MATCH ()-[r:RELATES_TO]->()
WHERE r.key IS NULL AND r.ebbReason IS NOT NULL OR r.ebbReason CONTAINS ' failed on it: '
WITH r
LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbReason
RETURN count(r) AS released
