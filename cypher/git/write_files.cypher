// purpose: Create or update files of a repository: their commits and the instants of the first and the last.
// mode: write
// params: $scope: String, $repository: String, $rows.id: List, $rows.commits: List, $rows.created: List, $rows.modified: List
// returns: changed: Integer (one row)
// bound: a list of ids
// idempotent: by the values
//
// A file with one of these ids that is not of the repository belongs to another writer and is left unchanged.
UNWIND range(0, size($rows.id) - 1) AS i
MERGE (f:File {scope: $scope, id: $rows.id[i]})
ON CREATE SET f.repository = $repository
WITH f, i, datetime({epochMillis: $rows.created[i]}) AS created, datetime({epochMillis: $rows.modified[i]}) AS modified
WHERE f.repository = $repository
  AND NOT coalesce(f.name = $rows.id[i] AND f.accessCount = $rows.commits[i] AND f.created = created AND f.lastModified = modified, false)
SET f.name = $rows.id[i], f.accessCount = $rows.commits[i], f.created = created, f.lastModified = modified
RETURN count(f) AS changed
