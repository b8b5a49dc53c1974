// purpose: Take a page of entities of other writers that relations, mentions or facts of Ebb's lead to: they get its label, and the scope local if they have none.
// mode: write
// params: $limit: Integer
// returns: entities: Integer (one row)
// bound: $limit
// idempotent: by the label EbbEntity
// quarantine: SET e.ebbReason = $reason RETURN count(*) AS entities
//
// So they are exported, backed up and deleted with their scope. One with a uuid or an id is of another library, and one
// whose scope and name an entity of Ebb's has stays as it is. Of several with one scope and name, one is taken. The
// counts come from the count store: without entities of others nothing is read. There is no index of such entities, so
// this belongs to jobs that read all rows anyway. A CASE keeps the planner from indexes that would be scanned whole.
CALL () { MATCH (e:Entity) RETURN count(e) AS all }
CALL () { MATCH (e:EbbEntity) RETURN count(e) AS own }
UNWIND CASE WHEN all > own THEN [1] ELSE [] END AS there
MATCH (e:Entity)
WHERE NOT e:EbbEntity AND e.uuid IS NULL AND e.id IS NULL AND e.ebbReason IS NULL
  AND CASE WHEN e.name IS :: STRING NOT NULL AND e.scope IS :: STRING THEN size(e.name) <= 1024 AND size(coalesce(e.scope, '')) <= 1024 ELSE false END
  AND (EXISTS { MATCH (e)-[r:RELATES_TO]-() WHERE CASE WHEN r.ebbKey IS NULL THEN false ELSE true END } OR EXISTS { (e)<-[:MENTIONS]-(:EbbMemory) } OR EXISTS { (e)<-[:ABOUT]-(:EbbFact) })
WITH e, coalesce(e.scope, 'local') AS scope, e.name AS name
WHERE NOT EXISTS { MATCH (same:EbbEntity {scope: scope, name: name}) USING INDEX SEEK same:EbbEntity(scope, name) }
WITH e, scope, name
LIMIT $limit
SET e.ebbLock = true
WITH scope, name, head(collect(e)) AS e, count(*) AS rows
SET e:EbbEntity, e.scope = scope
RETURN coalesce(sum(rows), 0) AS entities
