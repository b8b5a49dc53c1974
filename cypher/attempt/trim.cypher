// purpose: Remove attempts that ended long enough ago.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// An attempt without a lease belongs to another writer and is kept; so is an attempt with any other relationship.
MATCH (a:ConsolidationAttempt)
USING INDEX SEEK a:ConsolidationAttempt(state)
WHERE a.state IN ['done', 'aborted', 'expired']
  AND a.leaseUntil < datetime.realtime().epochMillis - $keptMs
  AND NOT (a)--()
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS trimmed
