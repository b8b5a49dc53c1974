// purpose: List the receipts of deletions of a scope, latest first.
// mode: read
// params: $scope: String, $limit: Integer
// returns: id: String, scope: String, by: String, requests: List, at: Integer, finished: Integer, labels: List, counts: List, emptied: Integer (at most $limit rows)
MATCH (e:EbbErasure)
USING INDEX SEEK e:EbbErasure(scope, at)
WHERE e.scope = $scope AND datetime({epochMillis: -62135596800000}) <= e.at < datetime({epochMillis: 253402300800000}) AND e.id IS :: STRING NOT NULL
WITH e
ORDER BY e.at DESC
LIMIT $limit
RETURN e.id AS id, e.scope AS scope, coalesce(toStringOrNull(e.by), '') AS by, e.at.epochMillis AS at,
  CASE WHEN e.requests IS :: LIST<STRING NOT NULL> NOT NULL THEN e.requests ELSE [] END AS requests,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= e.finished < datetime({epochMillis: 253402300800000}) THEN e.finished.epochMillis END AS finished,
  CASE WHEN e.labels IS :: LIST<STRING NOT NULL> NOT NULL THEN e.labels ELSE [] END AS labels,
  CASE WHEN e.counts IS :: LIST<INTEGER NOT NULL> NOT NULL THEN e.counts ELSE [] END AS counts,
  coalesce(toIntegerOrNull(e.emptied), 0) AS emptied
