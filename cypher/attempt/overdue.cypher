// purpose: Name attempts that are not over, oldest first.
// mode: read
// params: $limit: Integer
// returns: id: String (at most $limit rows)
MATCH (a:ConsolidationAttempt)
WHERE a.state IN ['planned', 'claimed']
RETURN a.id AS id
ORDER BY a.started, id
LIMIT $limit
