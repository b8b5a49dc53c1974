// purpose: List the files of a repository in a scope.
// mode: read
// params: $scope: String, $repository: String
// returns: id: String (a row for each)
MATCH (f:File {scope: $scope})
USING INDEX SEEK f:File(scope, id)
WHERE f.repository = $repository AND f.id IS :: STRING NOT NULL
RETURN f.id AS id
