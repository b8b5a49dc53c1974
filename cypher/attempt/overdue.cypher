// purpose: List attempts that have not ended, oldest first, and whether their leases have expired.
// mode: read
// params: $limit: Integer
// returns: id: String, overdue: Boolean (at most $limit rows)
// clock: server
MATCH (a:ConsolidationAttempt)
USING INDEX SEEK a:ConsolidationAttempt(state)
WHERE a.state IN ['planned', 'claimed'] AND a.id IS :: STRING NOT NULL
RETURN a.id AS id, coalesce(a.leaseUntil <= datetime.realtime().epochMillis, true) AS overdue
ORDER BY a.started, id
LIMIT $limit
