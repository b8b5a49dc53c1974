// purpose: Release for adoption a page of quarantined places of a label on which a statement failed.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
// names: :Room
//
// Places quarantined for their values are released without this, once the values are valid.
MATCH (n:Room)
WHERE n.ebbTrailReason CONTAINS ' failed on it: '
WITH n LIMIT $limit
SET n.ebbLock = true
REMOVE n.ebbTrailReason
RETURN count(n) AS released
