// purpose: Count the nodes of a label that have the mark of a layout, and list their scopes.
// mode: read
// params: $mark: String, $scope: String, $limit: Integer, $groups: Integer, $rows.others: List
// returns: nodes: Integer, shared: Integer, unscoped: Integer, groups: List (one row)
// names: :Room
//
// A node is shared if it has the mark of another layout too. A scope that is no text counts as missing.
MATCH (n:Room)
WHERE n[$mark] IS NOT NULL
WITH n LIMIT $limit
WITH any(other IN $rows.others WHERE n[other] IS NOT NULL) AS isShared,
  CASE WHEN n[$scope] IS :: STRING NOT NULL AND n[$scope] <> '' THEN n[$scope] END AS scope
RETURN count(*) AS nodes, count(CASE WHEN isShared THEN 1 END) AS shared, count(*) - count(scope) AS unscoped,
  collect(DISTINCT scope)[0..$groups] AS groups
