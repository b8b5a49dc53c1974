// purpose: Read the relationships from and to nodes of a mapped label and scope, where both ends may be mirrored.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.never: List, $rows.read: List, $rows.labels: List, $rows.marks: List, $rows.ends: List, $scoped: String, $unscoped: Boolean
// returns: key: String, edges: List (a row for each node that is there)
// names: :Room, n.id, n.mark, n.scope IN $rows.groups, :HALL
//
// An edge is [type, index of the label of its other end in $rows.labels, its key, the edge's element, the values of the
// properties $rows.read, whether it begins at the node]. $rows.ends names the key property of each label, empty for the
// element id; $scoped is the property of the scope, null if all rows are of one.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
RETURN key,
  COLLECT {
    MATCH (n)-[r:HALL]-(b)
    WHERE NOT type(r) IN $rows.never
      AND ($scoped IS NULL OR b[$scoped] IN $rows.groups OR ($unscoped AND b[$scoped] IS NULL))
    WITH r, b, head([i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(b) AND b[$rows.marks[i]] IS NOT NULL]) AS label
    WHERE label IS NOT NULL
    RETURN [type(r), label, CASE $rows.ends[label] WHEN '' THEN elementId(b) ELSE b[$rows.ends[label]] END, elementId(r),
      [name IN $rows.read | r[name]], startNode(r) = n]
  } AS edges
