// purpose: Give a page of places of a label on which a statement failed back to adoption, which judges them anew.
// mode: write
// params: $limit: Integer
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the reason
// names: :Room
//
// Those that were quarantined for their values come back by themselves, once these are sound.
MATCH (n:Room)
WHERE n.ebbTrailReason CONTAINS ' failed on it: '
WITH n LIMIT $limit
SET n.ebbLock = true
REMOVE n.ebbTrailReason
RETURN count(n) AS released
