// purpose: Say where a page of the heads of a scope ends, so that the next can be read beside it.
// mode: read
// params: $scope: String, $after: String, $skip: Integer
// returns: key: String (one row, or none where so many do not follow)
//
// The index alone is read: a twentieth of what the page costs.
MATCH (l:EbbLineage)
USING INDEX l:EbbLineage(scope, key)
WHERE l.scope = $scope AND l.key > $after
RETURN l.key AS key
ORDER BY l.scope, l.key
SKIP $skip
LIMIT 1
