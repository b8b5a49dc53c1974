// purpose: Create entities, or take those of the documents that other writers made with the same scope and name.
// mode: write
// params: $rows.scope: List, $rows.name: List
// returns: nothing
// bound: a list of names
// idempotent: by the unique (scope, name)
UNWIND range(0, size($rows.name) - 1) AS i
WITH $rows.scope[i] AS scope, $rows.name[i] AS name
CALL (scope, name) {
  MATCH (e:Entity {scope: scope, name: name})
  USING INDEX SEEK e:Entity(name)
  WHERE NOT e:EbbEntity AND e.uuid IS NULL AND e.id IS NULL AND NOT EXISTS { MATCH (same:EbbEntity {scope: scope, name: name}) USING INDEX SEEK same:EbbEntity(scope, name) }
  WITH e ORDER BY elementId(e) LIMIT 1
  SET e:EbbEntity
  RETURN count(e) AS taken
}
MERGE (e:Entity:EbbEntity {scope: scope, name: name})
