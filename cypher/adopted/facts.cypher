// purpose: Read relationships of a type by their keys, each with its ends.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.read: List, $rows.ends: List, $scoped: String, $unscoped: Boolean
// returns: key: String, edge: List (a row for each that is there)
// names: :HALL, r.id, n.mapped
//
// An edge is [type, its element, the values of the properties $rows.read, rule and key of its start, rule and key of its end].
// A rule is its number in the mapping, null for a node of none.
UNWIND $rows.keys AS key
MATCH (a)-[r:HALL]->(b)
WHERE r.id = key
  AND ($scoped IS NULL OR all(n IN [a, b] WHERE n[$scoped] IN $rows.groups OR ($unscoped AND n[$scoped] IS NULL)))
WITH key, r, [n IN [a, b] | [n, n.mapped]] AS ends
RETURN key, [type(r), elementId(r), [name IN $rows.read | r[name]]]
  + reduce(found = [], end IN ends | found + [end[1], CASE $rows.ends[end[1]] WHEN '' THEN elementId(end[0]) ELSE end[0][$rows.ends[end[1]]] END]) AS edge
