// purpose: Remove API keys revoked or expired more than some days ago, and keep the mark that keys existed.
// mode: write
// params: $days: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// A value in revoked that is no instant has revoked the key, and counts as long ago.
MATCH (k:EbbKey)
WHERE any(ended IN [k.revoked, k.expires] WHERE ended IS NOT NULL
  AND NOT coalesce(ended >= datetime.realtime() - duration({days: $days}), false))
WITH k LIMIT $limit
MERGE (c:EbbCounter {name: 'keys'})
DELETE k
RETURN count(*) AS trimmed
