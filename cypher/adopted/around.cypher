// purpose: Read the relationships from and to nodes of a mapped label and scope, where both ends may be mirrored.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.never: List, $rows.read: List, $rows.ends: List
// returns: key: String, edges: List (a row for each node that is there)
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL, CASE WHEN b.scope IN $rows.groups THEN b.mapped END
//
// An edge is [type, number of the rule of its other end, which is in the scope, its key, the edge's element, the values of
// the properties $rows.read, whether it begins at the node]. $rows.ends names the key property of each rule, empty for the
// element id.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
RETURN key,
  COLLECT {
    MATCH (n)-[r:HALL]-(b)
    WHERE NOT type(r) IN $rows.never
    WITH r, b, CASE WHEN b.scope IN $rows.groups THEN b.mapped END AS rule
    WHERE rule IS NOT NULL
    RETURN [type(r), rule, CASE $rows.ends[rule] WHEN '' THEN elementId(b) ELSE b[$rows.ends[rule]] END, elementId(r),
      [name IN $rows.read | r[name]], startNode(r) = n]
  } AS edges
