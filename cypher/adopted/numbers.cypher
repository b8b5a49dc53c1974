// purpose: List the numbers of the nodes of a mapped label and scope.
// mode: read
// params: $rows.groups: List
// returns: number: Integer (a row for each, in no order)
// names: :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups
//
// The function id is deprecated for elementId, whose texts are ten times as long.
MATCH (n:Room)
WHERE n.scope IN $rows.groups AND n.mark IS NOT NULL AND n.id IS :: STRING NOT NULL
RETURN id(n) AS number
