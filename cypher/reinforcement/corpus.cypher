// purpose: Read the texts of short-term and long-term memories of a scope, or those with most energy.
// mode: read
// params: $scope: String, $limit: Integer
// returns: id: String, text: String (at most $limit rows, by id)
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.tier IN ['shortTerm', 'longTerm'] AND m.scope = $scope AND m:EbbMemory AND NOT m:EbbQuarantined
  AND m.id IS :: STRING NOT NULL AND m.content IS :: STRING NOT NULL
WITH m, toFloatOrNull(m.energy) AS energy
ORDER BY energy DESC, m.id
LIMIT $limit
RETURN m.id AS id, left(m.content, 200) AS text
ORDER BY id
