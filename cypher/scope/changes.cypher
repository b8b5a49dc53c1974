// purpose: Remove the names of rows of a scope from a page of the change records.
// mode: write
// params: $scope: String, $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Such a record stays, as one of all of the scope, with what it says of other scopes: a mirror may wait for it. A malformed record
// counts as a change of everything already.
MATCH (c:EbbChange)
WHERE c.scopes IS :: LIST<STRING NOT NULL> NOT NULL AND c.labels IS :: LIST<STRING NOT NULL> NOT NULL
  AND c.keys IS :: LIST<STRING NOT NULL> NOT NULL AND c.kinds IS :: LIST<STRING NOT NULL> NOT NULL
  AND any(i IN range(0, size(c.scopes) - 1) WHERE c.scopes[i] = $scope AND c.labels[i] <> '')
WITH c, [i IN range(0, size(c.scopes) - 1) WHERE c.scopes[i] <> $scope] AS others
LIMIT $limit
WITH c, [i IN others | coalesce(c.labels[i], '')] + [''] AS labels, [i IN others | c.scopes[i]] + [$scope] AS scopes,
  [i IN others | coalesce(c.keys[i], '')] + [''] AS keys, [i IN others | coalesce(c.kinds[i], '')] + [''] AS kinds
SET c.labels = labels, c.scopes = scopes, c.keys = keys, c.kinds = kinds
RETURN count(*) AS rows
