// purpose: List the numbers of the rows of a label in a scope.
// mode: read
// params: $scope: String, $label: String, $rows.own: List
// returns: number: Integer (a row for each, in no order)
// names: :Room, n.id, n.scope
//
// As in scope/first. The rows are read by pages of these numbers, so that no transaction but this one, which reads nothing else,
// grows with the scope. The function id is deprecated for elementId, whose texts are ten times as long.
MATCH (n:Room)
WHERE n.scope = $scope AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
RETURN id(n) AS number
