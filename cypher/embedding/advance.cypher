// purpose: Record how far memories without an embedding have been searched for, or that the search is over.
// mode: write
// params: $model: String, $afterId: String, $afterScope: String, $passed: Integer
// returns: counters: Integer (one row)
// bound: one key
// idempotent: by the values
//
// $passed is null while the search goes on.
MERGE (c:EbbCounter {name: 'progress:embed'})
SET c.model = $model, c.afterId = $afterId, c.afterScope = $afterScope,
  c.passed = CASE WHEN $passed IS NULL THEN null ELSE datetime({epochMillis: $passed}) END
RETURN count(c) AS counters
