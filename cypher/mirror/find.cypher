// purpose: Find nodes of a label and scope by their keys.
// mode: read
// params: $scope: String, $rows.key: List
// returns: key: String, element: String (a row for each that is there)
// names: :Room, n.id
//
// All else of a mirror is read by these elements, in statements that name no label: the server plans each of them once, and not
// once for each label.
UNWIND $rows.key AS key
MATCH (n:Room)
USING INDEX SEEK n:Room(scope, id)
WHERE n.scope = $scope AND n.id = key
RETURN key, elementId(n) AS element
