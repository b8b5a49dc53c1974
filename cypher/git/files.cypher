// purpose: List the files of a repository in a scope.
// mode: read
// params: $scope: String, $repository: String
// returns: id: String (a row for each)
MATCH (f:File {scope: $scope})
WHERE f.repository = $repository AND f.id IS :: STRING NOT NULL
RETURN f.id AS id
