// purpose: Remove the names of rows from a page of the change records that concern a scope.
// mode: write
// params: $scope: String, $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Such a record stays, as one of everything: a mirror may wait for it.
MATCH (c:EbbChange)
WHERE c.scopes IS :: LIST<STRING NOT NULL> NOT NULL AND any(one IN c.scopes WHERE one = $scope)
WITH c LIMIT $limit
SET c.everything = true, c.labels = [], c.scopes = [], c.keys = [], c.kinds = []
RETURN count(*) AS rows
