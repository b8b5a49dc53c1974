// purpose: Remove the facts of a page of a scope that a sweep derived long enough ago and that were replaced since.
// mode: write
// params: $scope: String, $after: String, $source: String, $before: Integer, $limit: Integer
// returns: scanned: Integer, trimmed: Integer, last: String (one row)
// bound: $limit
// idempotent: by what is left
//
// The asserted fact and the head are kept; the head itself records its origin.
MATCH (f:Fact)
USING INDEX SEEK f:Fact(scope, id)
WHERE f.scope = $scope AND f.id > $after
WITH f
ORDER BY f.scope, f.id
LIMIT $limit
WITH f, f.id AS id, NOT coalesce(f:EbbFact AND NOT f:EbbQuarantined AND f.source = $source
    AND f.assertedAt < datetime({epochMillis: $before}), false)
  OR EXISTS { (f)<-[:HEAD]-(:EbbLineage) } AS stays
FOREACH (gone IN CASE WHEN stays THEN [] ELSE [f] END | DETACH DELETE gone)
RETURN count(*) AS scanned, sum(CASE WHEN stays THEN 0 ELSE 1 END) AS trimmed, max(id) AS last
