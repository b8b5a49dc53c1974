// purpose: Count the nodes of a label that have the mark of a layout, and list their scopes.
// mode: read
// params: $scope: String, $limit: Integer, $groups: Integer, $rows.others: List
// returns: nodes: Integer, shared: Integer, unscoped: Integer, groups: List (one row)
// names: :Room, n.mark IS NOT NULL
//
// A node is shared if it has all marks of another layout too, of which each is a list. A scope that is no text counts as missing.
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
WITH any(other IN $rows.others WHERE all(mark IN other WHERE n[mark] IS NOT NULL)) AS isShared,
  CASE WHEN n[$scope] IS :: STRING NOT NULL AND n[$scope] <> '' THEN n[$scope] END AS scope
RETURN count(*) AS nodes, count(CASE WHEN isShared THEN 1 END) AS shared, count(*) - count(scope) AS unscoped,
  collect(DISTINCT scope)[0..$groups] AS groups
