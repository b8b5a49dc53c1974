// purpose: Count the nodes of a label that have the mark of a layout, and list their scopes.
// mode: read
// params: $limit: Integer, $groups: Integer, $rows.others: List
// returns: nodes: Integer, shared: Integer, unscoped: Integer, groups: List (one row)
// names: :Room, n.mark IS NOT NULL, [n.scope]
//
// A node is shared if it has all marks of another layout too, of which each is a list. A node may be of several scopes. One
// that is no text counts as missing.
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
WITH any(other IN $rows.others WHERE all(mark IN other WHERE n[mark] IS NOT NULL)) AS isShared,
  [scope IN [n.scope] | CASE WHEN scope IS :: STRING NOT NULL AND scope <> '' THEN scope END] AS scopes
UNWIND range(0, size(scopes) - 1) AS i
RETURN count(CASE WHEN i = 0 THEN 1 END) AS nodes, count(CASE WHEN i = 0 AND isShared THEN 1 END) AS shared,
  count(CASE WHEN i = 0 AND any(scope IN scopes WHERE scope IS NULL) THEN 1 END) AS unscoped,
  collect(DISTINCT scopes[i])[0..$groups] AS groups
