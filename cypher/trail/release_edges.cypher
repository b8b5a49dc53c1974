// purpose: Give a page of edges of a type on which a statement failed back to adoption, which judges them anew.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
// names: :HALL
//
// Those that were quarantined for their values come back by themselves, once these are sound.
MATCH ()-[r:HALL]->()
WHERE r.ebbTrailReason CONTAINS ' failed on it: '
WITH r LIMIT $limit
SET r.ebbLock = true
REMOVE r.ebbTrailReason
RETURN count(r) AS released
