// purpose: Give relations of other writers that were set aside back to adoption, which judges them anew.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
//
// One that has its key was set aside by a pass, which judges it anew at each time.
MATCH ()-[r:RELATES_TO]->()
WHERE r.key IS NULL AND r.ebbReason IS NOT NULL
WITH r
LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbReason
RETURN count(r) AS released
