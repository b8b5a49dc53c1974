// purpose: Find the end of a page of the heads of a scope, so that the next page can be read in parallel.
// mode: read
// params: $scope: String, $after: String, $skip: Integer
// returns: key: String (one row, or none where so many do not follow)
//
// Only the index is read: a twentieth of the cost of the page.
MATCH (l:EbbLineage)
USING INDEX SEEK l:EbbLineage(scope, key)
WHERE l.scope = $scope AND l.key > $after
RETURN l.key AS key
ORDER BY l.scope, l.key
SKIP $skip
LIMIT 1
