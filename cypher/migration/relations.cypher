// purpose: Give a page of relations the key that they have since V010.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the key
//
// A relationship between entities with a uuid is of another library, whatever it calls its own key.
MATCH (a)-[r:RELATES_TO]->(b)
WHERE r.key IS NOT NULL AND (r.baseWeight IS NOT NULL OR r.weightAt IS NOT NULL) AND r.ebbKey IS NULL
  AND a.uuid IS NULL AND b.uuid IS NULL AND NOT EXISTS { MATCH ()-[:RELATES_TO {ebbKey: r.key}]->() }
WITH r LIMIT $limit
WITH r.key AS key, head(collect(r)) AS r, count(*) AS rows
SET r.ebbKey = key
REMOVE r.key
RETURN coalesce(sum(rows), 0) AS rows
