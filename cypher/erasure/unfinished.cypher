// purpose: List the open receipts of deletions of scopes: those in progress, and those that were broken off.
// mode: read
// params: $limit: Integer
// returns: scope: String, by: String, at: Integer (at most $limit rows; at is null if it is no instant)
MATCH (e:EbbErasure)
USING INDEX SEEK e:EbbErasure(open)
WHERE e.open >= ''
RETURN e.open AS scope, coalesce(toStringOrNull(e.by), '') AS by,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= e.at < datetime({epochMillis: 253402300800000}) THEN e.at.epochMillis END AS at
ORDER BY scope
LIMIT $limit
