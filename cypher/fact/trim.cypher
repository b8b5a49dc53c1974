// purpose: Remove facts that a sweep derived long enough ago and that were replaced since.
// mode: write
// params: $source: String, $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Scans all facts of Ebb. The asserted fact and the head are kept; the head itself records its origin.
MATCH (f:EbbFact)
WHERE f.source = $source AND f.assertedAt < datetime({epochMillis: $before}) AND NOT f:EbbQuarantined
  AND NOT EXISTS { MATCH (f)<-[:HEAD]-(:EbbLineage) }
WITH f LIMIT $limit
DETACH DELETE f
RETURN count(*) AS trimmed
