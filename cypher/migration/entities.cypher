// purpose: Give a page of entities the label that they have since V010.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the label
//
// Until then scope and name were unique. An entity that has a key of another library is left to it.
MATCH (e:Entity)
WHERE NOT e:EbbEntity AND e.scope IS NOT NULL AND e.name IS NOT NULL AND e.uuid IS NULL AND e.id IS NULL
WITH e LIMIT $limit
SET e:EbbEntity
RETURN count(*) AS rows
