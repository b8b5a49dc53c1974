// purpose: List memories of a scope after an id, optionally of one tier or session, without stubs of promotions.
// mode: read
// params: $scope: String, $tier: String, $session: String, $after: String, $limit: Integer
// returns: id: String (at most $limit rows, by id)
MATCH (m:Memory)
WHERE m.scope = $scope AND m.id > $after
  AND ($tier IS NULL OR m.tier = $tier) AND ($session IS NULL OR m.sessionId = $session)
  AND NOT m.tier IN ['archivedWorking', 'archivedShortTerm']
RETURN m.id AS id
ORDER BY id
LIMIT $limit
