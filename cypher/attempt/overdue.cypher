// purpose: List attempts with a lease that have not ended, and whether their leases have expired: those first, then by age.
// mode: read
// params: $limit: Integer
// returns: id: String, overdue: Boolean (at most $limit rows)
// clock: server
//
// One of another writer without a lease gets one, by attempt/adopt, if it holds a memory.
MATCH (a:ConsolidationAttempt)
USING INDEX SEEK a:ConsolidationAttempt(state)
WHERE a.state IN ['planned', 'claimed'] AND a.id IS :: STRING NOT NULL AND a.leaseUntil IS :: INTEGER NOT NULL
RETURN a.id AS id, a.leaseUntil <= datetime.realtime().epochMillis AS overdue
ORDER BY overdue DESC, a.started, id
LIMIT $limit
