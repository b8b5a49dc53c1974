// purpose: Read the relationships that begin at nodes of a mapped label and scope, each with the element id of its other end.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.never: List, $rows.read: List
// returns: key: String, edges: List (a row for each node that is there)
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL
//
// An edge is [type, element of its other end, its own element, the values of the properties $rows.read]. The other end is not
// checked here: the reader knows the elements of all mirrored nodes.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
RETURN key, [(n)-[r:HALL]->(b) WHERE NOT type(r) IN $rows.never |
  [type(r), elementId(b), elementId(r), [name IN $rows.read | r[name]]]
] AS edges
