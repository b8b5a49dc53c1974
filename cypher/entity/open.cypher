// purpose: Ensure that entities exist.
// mode: write
// params: $rows.scope: List, $rows.name: List
// returns: entities: Integer (one row)
// bound: a list of names
// idempotent: by the unique (scope, name)
UNWIND range(0, size($rows.name) - 1) AS i
MERGE (e:Entity {scope: $rows.scope[i], name: $rows.name[i]})
RETURN count(e) AS entities
