// purpose: Find which entities are still to be created, and whether the database has entities of another library.
// mode: read
// params: $rows.scope: List, $rows.name: List
// returns: scope: String, name: String, foreign: String (a row for each that is missing; foreign null without such a library, or where another writer's entity can be taken)
//
// An entity of the documents is known by its name. One with a uuid or an id is of a library whose readers expect these
// of every Entity. The counts come from the count store: without entities of others there is nothing to look for, and the
// list, unlike a filter, keeps the scan from beginning.
UNWIND range(0, size($rows.name) - 1) AS i
WITH $rows.scope[i] AS scope, $rows.name[i] AS name
WHERE NOT EXISTS { MATCH (same:EbbEntity {scope: scope, name: name}) USING INDEX SEEK same:EbbEntity(scope, name) }
WITH collect([scope, name]) AS missing
WHERE size(missing) > 0
CALL () { MATCH (e:Entity) RETURN count(e) AS all }
CALL () { MATCH (e:EbbEntity) RETURN count(e) AS own }
CALL (all, own) {
  UNWIND CASE WHEN all > own THEN [1] ELSE [] END AS there
  MATCH (e:Entity)
  WHERE NOT e:EbbEntity AND (e.uuid IS NOT NULL OR e.id IS NOT NULL)
  WITH e LIMIT 1
  RETURN collect(CASE WHEN e.uuid IS NOT NULL THEN 'uuid' ELSE 'id' END)[0] AS foreign
}
UNWIND missing AS one
WITH one[0] AS scope, one[1] AS name, foreign
RETURN scope, name, CASE WHEN NOT EXISTS {
    MATCH (e:Entity {scope: scope, name: name})
    WHERE NOT e:EbbEntity AND e.uuid IS NULL AND e.id IS NULL
  } THEN foreign END AS foreign
