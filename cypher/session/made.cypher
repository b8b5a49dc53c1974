// purpose: List the working memories that were made in a session, after an id.
// mode: read
// params: $scope: String, $session: String, $after: String, $limit: Integer
// returns: id: String (at most $limit rows, by id)
MATCH (m:Memory {sessionId: $session})
USING INDEX SEEK m:Memory(sessionId)
WHERE m.tier = 'working' AND m.scope = $scope AND m.id > $after AND NOT m:EbbQuarantined
RETURN m.id AS id
ORDER BY id
LIMIT $limit
