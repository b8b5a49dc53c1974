// purpose: Remove learned weights that have decayed to nothing.
// mode: write
// params: $scope: String, $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// By the tick $before every decaying part is gone. A lasting bonus or penalty is kept, and so is the record that it was
// given.
MATCH (s:EbbSynapse)
USING INDEX SEEK s:EbbSynapse(scope, tick)
WHERE s.scope = $scope AND s.tick <= $before AND s.perm = 0.0 AND s.ltp = false AND s.ltd = false
WITH s LIMIT $limit
DELETE s
RETURN count(*) AS trimmed
