// purpose: Give a page of relations the key that they have since V010.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the key
MATCH ()-[r:RELATES_TO]->()
WHERE r.key IS NOT NULL AND r.baseWeight IS NOT NULL AND r.ebbKey IS NULL
WITH r LIMIT $limit
SET r.ebbKey = r.key
REMOVE r.key
RETURN count(*) AS rows
