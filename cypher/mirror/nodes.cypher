// purpose: Read nodes of a label and scope as a mirror shows them.
// mode: read
// params: $scope: String, $label: String, $rows.key: List, $rows.element: List, $rows.before: List, $rows.marks: List, $expired: Boolean, $dimensions: Integer, $model: String
// returns: key: String, name: String, content: String, tier: String, session: String, lastAccessed: Integer, created: Integer, accessCount: Integer, tags: List, metadata: String, provenance: List, embedding: List (a row for each that is there and may be mirrored)
//
// Values are returned unchecked; a value of a wrong type is null. A node that is never accessed, such as a file, has the
// instant of its last change. A node with a label of $rows.before is read as one of those. Tags beyond the number and the
// length of a request are left out, and longer texts of a provenance are cut. Embeddings are of $dimensions numbers; null: none is
// read. One that was computed for Ebb is of $model, if that is given: those of two models cannot be compared.
UNWIND range(0, size($rows.element) - 1) AS at
MATCH (n)
WHERE elementId(n) = $rows.element[at] AND $label IN labels(n)
  AND n.scope = $scope AND CASE WHEN $label = 'Entity' THEN n.name ELSE n.id END = $rows.key[at]
  AND NOT n:EbbQuarantined AND n.dissolved IS NULL
  AND NOT coalesce(n.tier, '') IN ['archivedWorking', 'archivedShortTerm']
  AND ($expired OR NOT coalesce(n.tier, '') = 'expiredWorking')
  AND none(other IN $rows.before WHERE other IN labels(n)) AND none(mark IN $rows.marks WHERE n[mark] IS NOT NULL)
RETURN $rows.key[at] AS key,
  CASE WHEN n.name IS :: STRING NOT NULL THEN n.name END AS name,
  CASE WHEN n.content IS :: STRING NOT NULL THEN left(n.content, 65536) END AS content,
  CASE WHEN n.tier IS :: STRING NOT NULL THEN n.tier END AS tier,
  CASE WHEN n.sessionId IS :: STRING NOT NULL THEN n.sessionId END AS session,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= n.lastAccessed < datetime({epochMillis: 253402300800000}) THEN n.lastAccessed.epochMillis
    WHEN datetime({epochMillis: -62135596800000}) <= n.lastModified < datetime({epochMillis: 253402300800000}) THEN n.lastModified.epochMillis
  END AS lastAccessed,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= n.created < datetime({epochMillis: 253402300800000}) THEN n.created.epochMillis END AS created,
  CASE WHEN n.accessCount IS :: INTEGER NOT NULL THEN n.accessCount END AS accessCount,
  CASE WHEN n.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN [tag IN n.tags WHERE size(tag) <= 256][..256] END AS tags,
  CASE WHEN n.metadata IS :: STRING NOT NULL AND size(n.metadata) <= 4096 THEN n.metadata END AS metadata,
  [
    CASE WHEN n.sourcePath IS :: STRING NOT NULL THEN left(n.sourcePath, 4096) END,
    CASE WHEN n.lineStart IS :: INTEGER NOT NULL THEN n.lineStart END,
    CASE WHEN n.lineEnd IS :: INTEGER NOT NULL THEN n.lineEnd END,
    CASE WHEN n.excerpt IS :: STRING NOT NULL THEN left(n.excerpt, 4096) END,
    CASE WHEN n.namespace IS :: STRING NOT NULL THEN left(n.namespace, 1024) END,
    CASE WHEN n.canonical IS :: BOOLEAN NOT NULL THEN n.canonical END
  ] AS provenance,
  CASE WHEN n.embedding IS :: LIST<FLOAT NOT NULL> NOT NULL AND size(n.embedding) = $dimensions
    AND NOT coalesce(n.ebbEmbeddingModel <> $model AND n.ebbEmbeddingEnds = [n.embedding[0], n.embedding[-1]], false) THEN n.embedding END AS embedding
