// purpose: List attempts, open ones first, then newest first.
// mode: read
// params: $id: String, $open: Boolean, $limit: Integer
// returns: id, phase, state, holder, instance, started, leaseLeft, claimed, applied, conflicts, holds (at most $limit rows)
// clock: server
//
// leaseLeft is in milliseconds, by the server's clock; holds is the number of memories that it marks now.
MATCH (a:ConsolidationAttempt)
WHERE ($id IS NULL OR a.id = $id)
  AND (NOT $open OR NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false))
WITH a, datetime.realtime().epochMillis AS serverNow,
  CASE WHEN a.state IN ['done', 'aborted', 'expired'] THEN 1 ELSE 0 END AS over,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= a.started < datetime({epochMillis: 253402300800000}) THEN a.started.epochMillis END AS started
ORDER BY over, started DESC, a.id DESC
LIMIT $limit
RETURN CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE elementId(a) END AS id, toStringOrNull(a.phase) AS phase,
  CASE WHEN a.state IN ['planned', 'claimed', 'done', 'aborted', 'expired'] THEN a.state ELSE 'foreign' END AS state,
  toStringOrNull(a.holder) AS holder, toStringOrNull(a.instanceId) AS instance, started,
  CASE WHEN over = 0 AND a.leaseUntil IS :: INTEGER THEN CASE WHEN a.leaseUntil < 0 THEN 0 ELSE a.leaseUntil END - serverNow END AS leaseLeft,
  coalesce(toIntegerOrNull(a.claimed), 0) AS claimed, coalesce(toIntegerOrNull(a.applied), 0) AS applied,
  coalesce(toIntegerOrNull(a.conflicts), 0) AS conflicts, COUNT { ()-[:CONSOLIDATING]->(a) } AS holds
