// purpose: Remove facts that a sweep derived long enough ago and that another has replaced since.
// mode: write
// params: $source: String, $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Looks at all facts of Ebb. The one that was asserted and the head stay; the head says itself what it came from.
MATCH (f:EbbFact)
WHERE f.source = $source AND f.assertedAt < datetime({epochMillis: $before}) AND NOT f:EbbQuarantined
  AND NOT EXISTS { MATCH (f)<-[:HEAD]-(:EbbLineage) }
WITH f LIMIT $limit
DETACH DELETE f
RETURN count(*) AS trimmed
