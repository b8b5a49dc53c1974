// purpose: Remove Ebb's bookkeeping from a page of relationships.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the properties
MATCH ()-[r]->()
WHERE r.ebbKey IS NOT NULL OR r.ebbLock IS NOT NULL OR r.ebbReason IS NOT NULL OR r.ebbTrailReason IS NOT NULL OR r.ebbMoved IS NOT NULL
WITH r LIMIT $limit
REMOVE r.ebbKey, r.ebbLock, r.ebbReason, r.ebbTrailReason, r.ebbMoved
RETURN count(*) AS rows
