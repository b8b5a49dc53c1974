// purpose: Read relationships of a type by their keys, each with its ends.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.read: List, $rows.labels: List, $rows.marks: List, $rows.ends: List, $scoped: String, $unscoped: Boolean
// returns: key: String, edge: List (a row for each that is there)
// names: :HALL, r.id
//
// An edge is [type, its element, the values of the properties $rows.read, label and key of its start, label and key of its
// end]. A label is an index in $rows.labels, null for a node of no mapped label.
UNWIND $rows.keys AS key
MATCH (a)-[r:HALL]->(b)
WHERE r.id = key
  AND ($scoped IS NULL OR all(n IN [a, b] WHERE n[$scoped] IN $rows.groups OR ($unscoped AND n[$scoped] IS NULL)))
WITH key, r, [n IN [a, b] | [n, head([i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL])]] AS ends
RETURN key, [type(r), elementId(r), [name IN $rows.read | r[name]]]
  + reduce(found = [], end IN ends | found + [end[1], CASE $rows.ends[end[1]] WHEN '' THEN elementId(end[0]) ELSE end[0][$rows.ends[end[1]]] END]) AS edge
