// purpose: Read the instants of nodes from which facts were learned.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $observed: String
// returns: key: String, at: Any (a row for each that is there)
// names: :Room, n.id, n.scope IN $rows.groups
//
// A list of such keys may name nodes that were deleted.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups
RETURN key, n[$observed] AS at
