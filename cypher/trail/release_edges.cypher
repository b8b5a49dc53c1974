// purpose: Release for adoption a page of quarantined edges of a type on which a statement failed.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
// names: :HALL
//
// Edges quarantined for their values are released without this, once the values are valid.
MATCH ()-[r:HALL]->()
WHERE r.ebbTrailReason CONTAINS ' failed on it: '
WITH r LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbTrailReason
RETURN count(r) AS released
