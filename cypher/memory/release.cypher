// purpose: Release quarantined memories for adoption, which checks them again.
// mode: write
// params: $limit: Integer, $all: Boolean, $after: Integer
// returns: released: Integer, last: Integer (one row)
// bound: $limit
// idempotent: by the labels
//
// A reason begins with the name of the property. Unless $all, a row without that property stays quarantined: for a
// memory that is new to Ebb a missing value has a default, but here it was removed. Pages follow the numbers of the nodes,
// so that invalid rows, which are quarantined again, keep no other from being checked.
MATCH (m:EbbQuarantined)
WHERE id(m) > $after AND ($all OR m[split(coalesce(toStringOrNull(m.ebbReason), ''), ' ')[0]] IS NOT NULL)
WITH m, id(m) AS number
ORDER BY number
LIMIT $limit
SET m.ebbLock = true
REMOVE m:EbbQuarantined, m:EbbMemory, m:EbbFact, m.ebbReason
RETURN count(m) AS released, max(number) AS last
