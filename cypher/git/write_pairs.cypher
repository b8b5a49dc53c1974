// purpose: Set how many commits changed two files together.
// mode: write
// params: $scope: String, $repository: String, $rows.from: List, $rows.to: List, $rows.commits: List, $rows.first: List, $rows.last: List
// returns: changed: Integer (one row)
// bound: a list of pairs
// idempotent: by the values
UNWIND range(0, size($rows.from) - 1) AS i
CALL (i) {
  MATCH (a:File {scope: $scope, id: $rows.from[i]})
  USING INDEX SEEK a:File(scope, id)
  WHERE a.repository = $repository
  RETURN a
  LIMIT 1
}
CALL (i) {
  MATCH (b:File {scope: $scope, id: $rows.to[i]})
  USING INDEX SEEK b:File(scope, id)
  WHERE b.repository = $repository
  RETURN b
  LIMIT 1
}
MERGE (a)-[c:COACTIVATED]->(b)
WITH c, i
WHERE NOT coalesce(c.weight = $rows.commits[i], false)
SET c.weight = $rows.commits[i], c.firstCoactivation = datetime({epochMillis: $rows.first[i]}),
  c.lastCoactivation = datetime({epochMillis: $rows.last[i]})
RETURN count(c) AS changed
