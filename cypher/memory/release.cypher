// purpose: Release quarantined rows for adoption, which judges them anew.
// mode: write
// params: $limit: Integer, $all: Boolean
// returns: released: Integer (one row)
// bound: $limit
// idempotent: by the labels
//
// A reason begins with the property that it is about. Unless $all, a row of which that is missing stays where it is: for
// a memory that Ebb has never seen, what is missing has a value to begin with; here somebody removed it.
MATCH (m:EbbQuarantined)
WHERE $all OR m[split(coalesce(toStringOrNull(m.ebbReason), ''), ' ')[0]] IS NOT NULL
WITH m LIMIT $limit
SET m.ebbLock = true
REMOVE m:EbbQuarantined, m:EbbStamped, m:EbbFact, m.ebbReason
RETURN count(m) AS released
