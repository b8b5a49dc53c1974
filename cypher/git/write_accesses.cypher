// purpose: Connect files with the commits that changed them.
// mode: write
// params: $scope: String, $repository: String, $rows.file: List, $rows.commit: List
// returns: changed: Integer (one row)
// bound: a list of pairs
// idempotent: by the pair
UNWIND range(0, size($rows.file) - 1) AS i
MATCH (f:File {scope: $scope, id: $rows.file[i]})
USING INDEX SEEK f:File(scope, id)
WHERE f.repository = $repository
MATCH (s:Session {scope: $scope, id: $rows.commit[i]})
USING INDEX SEEK s:Session(scope, id)
MERGE (f)-[a:ACCESSED_IN]->(s)
WITH a, s
WHERE a.at IS NULL
SET a.at = s.started
RETURN count(a) AS changed
