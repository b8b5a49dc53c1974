// purpose: List the new memories in the reinforcement backlog, longest-waiting first.
// mode: read
// params: $now: Integer, $dimensions: Integer, $limit: Integer
// returns: id: String, scope: String, text: String, embedded: Boolean (at most $limit rows)
//
// The text is the part that is compared; embedded says whether the memory has an embedding of $dimensions numbers that
// the index can compare: as in domain::similarity, one that is all zeros, infinite or NaN fails the statement that seeks
// its neighbours.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(reinforceDue)
WHERE m.reinforceDue >= datetime({epochMillis: -62135596800000}) AND m.reinforceDue <= datetime({epochMillis: $now})
  AND m:EbbMemory AND NOT m:EbbQuarantined AND m.id IS :: STRING NOT NULL AND m.scope IS :: STRING NOT NULL
WITH m, m.reinforceDue AS due
ORDER BY due, m.id
LIMIT $limit
RETURN m.id AS id, m.scope AS scope, coalesce(left(toStringOrNull(m.content), 200), '') AS text,
  CASE WHEN m.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL THEN size(m.embedding) = $dimensions
    AND 1.4e-76 <= reduce(sum = 0.0, number IN m.embedding | sum + number * number) <= 1.15e77 ELSE false END AS embedded
