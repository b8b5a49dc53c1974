// purpose: Remove files that a repository no longer has.
// mode: write
// params: $scope: String, $repository: String, $rows.id: List
// returns: changed: Integer (one row)
// bound: a list of ids
// idempotent: by their absence
UNWIND $rows.id AS id
MATCH (f:File {scope: $scope, id: id})
USING INDEX SEEK f:File(scope, id)
WHERE f.repository = $repository
DETACH DELETE f
RETURN count(*) AS changed
