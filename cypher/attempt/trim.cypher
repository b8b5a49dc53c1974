// purpose: Remove attempts that were over long enough ago.
// mode: write
// params: $keptMs: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// One without a lease is another writer's own, and stays; so does one that somebody has drawn anything to.
MATCH (a:ConsolidationAttempt)
WHERE a.state IN ['done', 'aborted', 'expired']
  AND a.leaseUntil < datetime.realtime().epochMillis - $keptMs
  AND NOT (a)--()
WITH a LIMIT $limit
DELETE a
RETURN count(*) AS trimmed
