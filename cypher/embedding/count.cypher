// purpose: Count the memories in the embedding backlog, up to a limit.
// mode: read
// params: $now: Integer, $limit: Integer
// returns: due: Integer (one row)
MATCH (m:Memory)
WHERE m.embedDue >= datetime({epochMillis: -62135596800000}) AND m.embedDue <= datetime({epochMillis: $now}) AND NOT m:EbbQuarantined
WITH m LIMIT $limit
RETURN count(m) AS due
