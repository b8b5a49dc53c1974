// purpose: Give a page of entities the label that they have since V010.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the label
//
// An entity with a key of another library is left to it, unless Ebb has attached something to it. Of several with one
// scope and name, which the constraint of then prevents, one is taken.
MATCH (e:Entity)
WHERE NOT e:EbbEntity AND e.scope IS NOT NULL AND e.name IS NOT NULL
  AND NOT EXISTS { MATCH (:EbbEntity {scope: e.scope, name: e.name}) }
  AND (e.uuid IS NULL AND e.id IS NULL OR EXISTS { (e)<-[:ABOUT]-(:EbbFact) } OR EXISTS { (e)<-[:MENTIONS]-(:EbbMemory) }
    OR EXISTS { MATCH (e)-[r:RELATES_TO]-() WHERE r.ebbKey IS NOT NULL })
WITH e LIMIT $limit
WITH e.scope AS scope, e.name AS name, head(collect(e)) AS e, count(*) AS rows
SET e:EbbEntity
RETURN coalesce(sum(rows), 0) AS rows
