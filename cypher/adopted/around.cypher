// purpose: Read the relationships from and to nodes of a mapped label and scope, where both ends may be mirrored.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.never: List, $rows.read: List, $rows.ends: List, $scoped: String, $unscoped: Boolean
// returns: key: String, edges: List (a row for each node that is there)
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL, b.mapped
//
// An edge is [type, number of the rule of its other end, its key, the edge's element, the values of the
// properties $rows.read, whether it begins at the node]. $rows.ends names the key property of each rule, empty for the
// element id; $scoped is the property of the scope, null if all rows are of one.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
RETURN key,
  COLLECT {
    MATCH (n)-[r:HALL]-(b)
    WHERE NOT type(r) IN $rows.never
      AND ($scoped IS NULL OR b[$scoped] IN $rows.groups OR ($unscoped AND b[$scoped] IS NULL))
    WITH r, b, b.mapped AS rule
    WHERE rule IS NOT NULL
    RETURN [type(r), rule, CASE $rows.ends[rule] WHEN '' THEN elementId(b) ELSE b[$rows.ends[rule]] END, elementId(r),
      [name IN $rows.read | r[name]], startNode(r) = n]
  } AS edges
