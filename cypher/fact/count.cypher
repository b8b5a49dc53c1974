// purpose: Count the lineages of a scope.
// mode: read
// params: $scope: String
// returns: lineages: Integer (one row)
MATCH (l:EbbLineage)
USING INDEX SEEK l:EbbLineage(scope, key)
WHERE l.scope = $scope AND l.key > ''
RETURN count(l) AS lineages
