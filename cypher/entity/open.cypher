// purpose: Make sure that entities exist.
// mode: write
// params: $scope: List, $name: List
// returns: entities: Integer (one row)
// bound: a list of names
// idempotent: by the unique (scope, name)
UNWIND range(0, size($name) - 1) AS i
MERGE (e:Entity {scope: $scope[i], name: $name[i]})
RETURN count(e) AS entities
