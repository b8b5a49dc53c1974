// purpose: Name memories of a scope, by tier or session where one is given, from one id on; stubs of promotions left out.
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
