// purpose: Read how far memories without an embedding have been searched for.
// mode: read
// params: none
// returns: model: String, afterId: String, afterScope: String, passed: Integer (one row; none before the first search)
MATCH (c:EbbCounter {name: 'progress:embed'})
RETURN toStringOrNull(c.model) AS model, toStringOrNull(c.afterId) AS afterId, toStringOrNull(c.afterScope) AS afterScope,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= c.passed < datetime({epochMillis: 253402300800000}) THEN c.passed.epochMillis END AS passed
