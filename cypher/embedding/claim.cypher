// purpose: Record the model of this program, unless another program has used another model within a time.
// mode: write
// params: $model: String, $by: String, $now: Integer, $since: Integer
// returns: other: String (one row)
// bound: one key
// idempotent: by the values
//
// other is the model of the other program, null if there is none: two programs with two models would replace each other's
// embeddings again and again.
MERGE (c:EbbCounter {name: 'progress:embed'})
WITH c, datetime({epochMillis: $now}) AS now,
  CASE WHEN c.usedBy <> $by AND c.used <> $model AND datetime({epochMillis: $since}) < c.usedAt <= datetime({epochMillis: $now}) THEN toStringOrNull(c.used) END AS other
FOREACH (_ IN CASE WHEN other IS NULL THEN [1] ELSE [] END | SET c.used = $model, c.usedBy = $by, c.usedAt = now)
RETURN other
