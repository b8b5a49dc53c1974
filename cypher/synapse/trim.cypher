// purpose: Remove what was learned so long ago that nothing is left of it.
// mode: write
// params: $scope: String, $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Until $before, a tick, whatever fades has faded. A lasting bonus or penalty stays, and so does that it was given.
MATCH (s:EbbSynapse)
USING INDEX s:EbbSynapse(scope, tick)
WHERE s.scope = $scope AND s.tick <= $before AND s.perm = 0.0 AND s.ltp = false AND s.ltd = false
WITH s LIMIT $limit
DELETE s
RETURN count(*) AS trimmed
