// purpose: Make sure that entities exist, and say which did not.
// mode: write
// params: $rows.scope: List, $rows.name: List
// returns: scopes: List, names: List (one row: of those that were made, or were being made by another)
// bound: a list of names
// idempotent: by the unique (scope, name)
UNWIND range(0, size($rows.name) - 1) AS i
OPTIONAL MATCH (known:Entity {scope: $rows.scope[i], name: $rows.name[i]})
WITH i, known
WHERE known IS NULL
MERGE (e:Entity {scope: $rows.scope[i], name: $rows.name[i]})
RETURN collect(e.scope) AS scopes, collect(e.name) AS names
