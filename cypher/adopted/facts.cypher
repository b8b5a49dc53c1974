// purpose: Read relationships of a type between nodes of a scope by their keys, each with its ends.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $rows.read: List, $rows.ends: List
// returns: key: String, edge: List (a row for each that is there)
// names: :HALL, r.id, CASE WHEN a.scope IN $rows.groups THEN a.mapped END, CASE WHEN b.scope IN $rows.groups THEN b.mapped END
//
// An edge is [type, its element, the values of the properties $rows.read, rule and key of its start, rule and key of its end].
// A rule is its number in the mapping, of a node in the scope.
UNWIND $rows.keys AS key
MATCH (a)-[r:HALL]->(b)
WHERE r.id = key
WITH key, a, r, b, CASE WHEN a.scope IN $rows.groups THEN a.mapped END AS from, CASE WHEN b.scope IN $rows.groups THEN b.mapped END AS to
WHERE from IS NOT NULL AND to IS NOT NULL
RETURN key, [type(r), elementId(r), [name IN $rows.read | r[name]],
  from, CASE $rows.ends[from] WHEN '' THEN elementId(a) ELSE a[$rows.ends[from]] END,
  to, CASE $rows.ends[to] WHEN '' THEN elementId(b) ELSE b[$rows.ends[to]] END] AS edge
