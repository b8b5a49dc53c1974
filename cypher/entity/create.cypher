// purpose: Create entities, as places of a trail.
// mode: write
// params: $rows.scope: List, $rows.name: List
// returns: element: String, id: String, scope: String (a row for each)
// bound: a list of names
// idempotent: by the unique (scope, name), and by the receipt of its transaction
//
// Created, not merged: one that another transaction created meanwhile may carry pheromones that were not read.
UNWIND range(0, size($rows.name) - 1) AS i
CREATE (e:Entity:EbbEntity {scope: $rows.scope[i], name: $rows.name[i]})
RETURN elementId(e) AS element, $rows.name[i] AS id, $rows.scope[i] AS scope
