// purpose: Create sessions of commits.
// mode: write
// params: $scope: String, $repository: String, $rows.id: List, $rows.title: List, $rows.at: List
// returns: changed: Integer (one row)
// bound: a list of ids
// idempotent: by the id
UNWIND range(0, size($rows.id) - 1) AS i
MERGE (s:Session {scope: $scope, id: $rows.id[i]})
WITH s, i, datetime({epochMillis: $rows.at[i]}) AS at
WHERE s.repository IS NULL AND s.started IS NULL
SET s.repository = $repository, s.title = $rows.title[i], s.started = at, s.ended = at
RETURN count(s) AS changed
