// purpose: List the memories that the cluster job must check, longest-waiting first.
// mode: read
// params: $now: Integer, $limit: Integer
// returns: scope: String, id: String, due: Integer (at most $limit rows)
MATCH (m:Memory)
USING INDEX SEEK m:Memory(clusterDue)
WHERE m.clusterDue >= datetime({epochMillis: -62135596800000}) AND m.clusterDue <= datetime({epochMillis: $now})
  AND m:EbbMemory AND m.scope IS :: STRING NOT NULL AND m.id IS :: STRING NOT NULL
WITH m, m.clusterDue AS due
ORDER BY due, m.scope, m.id
LIMIT $limit
RETURN m.scope AS scope, m.id AS id, due.epochMillis AS due
