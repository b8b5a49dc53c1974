// purpose: Remove API keys that were revoked or have expired more than some days ago; that there were keys stays marked.
// mode: write
// params: $days: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
// clock: server
//
// What somebody wrote there that is no instant has revoked it, and counts as long ago.
MATCH (k:EbbKey)
WHERE (k.revoked IS NOT NULL AND (NOT k.revoked IS :: ZONED DATETIME OR k.revoked < datetime.realtime() - duration({days: $days})))
  OR (k.expires IS NOT NULL AND (NOT k.expires IS :: ZONED DATETIME OR k.expires < datetime.realtime() - duration({days: $days})))
WITH k LIMIT $limit
MERGE (c:EbbCounter {name: 'keys'})
DELETE k
RETURN count(*) AS trimmed
