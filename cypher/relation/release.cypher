// purpose: Release quarantined relations for adoption or a pass, which checks them again.
// mode: write
// params: $limit: Integer, $after: Integer
// returns: released: Integer, last: Integer (one row)
// bound: $limit
// idempotent: by the reason
//
// A relation with a key was quarantined by a pass, which checks its values again each time, but not whether a statement
// still fails on it. Pages follow the numbers of the relationships, as in memory/release.
MATCH ()-[r:RELATES_TO]->()
WHERE id(r) > $after AND (r.ebbKey IS NULL AND r.ebbReason IS NOT NULL OR r.ebbReason CONTAINS ' failed on it: ')
WITH r, id(r) AS number
ORDER BY number
LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbReason
RETURN count(r) AS released, max(number) AS last
