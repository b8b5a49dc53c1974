// purpose: Read whole memories by key.
// mode: read
// params: $rows.scope: List, $rows.id: List, $textMax: Integer
// returns: a row for each memory that exists, in their order
//
// dates are energyAt, lastAccessed, created, ripeAt, dueAt and lastExpired, as in `memory/lock`. A memory that another
// writer made without a scope, and that no job has adopted, has the scope local. Tags, metadata and values of the provenance
// of a wrong type are null, and so is updated where it is no date. Of the content the first $textMax characters are read.
UNWIND range(0, size($rows.id) - 1) AS i
OPTIONAL MATCH (own:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK own:Memory(scope, id)
CALL (own, i) {
  OPTIONAL MATCH (bare:Memory {id: CASE WHEN own IS NULL AND $rows.scope[i] = 'local' THEN $rows.id[i] END})
  USING INDEX SEEK bare:Memory(id)
  WHERE bare.scope IS NULL
  RETURN bare
  ORDER BY elementId(bare)
  LIMIT 1
}
WITH i, coalesce(own, bare) AS m,
  datetime({epochMillis: -62135596800000}) AS first, datetime({epochMillis: 253402300800000}) AS end
WHERE m IS NOT NULL
RETURN m.id AS id, left(toStringOrNull(m.content), $textMax) AS content,
  CASE WHEN m.scope IS :: STRING THEN m.scope END AS scope,
  CASE WHEN m.tier IS :: STRING THEN m.tier END AS tier,
  CASE WHEN m.energy IS :: FLOAT OR m.energy IS :: INTEGER THEN toFloat(m.energy) END AS energy,
  [date IN [m.energyAt, m.lastAccessed, m.created, m.ripeAt, m.dueAt, m.lastExpired] |
    CASE WHEN first <= date < end THEN date.epochMillis ELSE valueType(date) END] AS dates,
  CASE WHEN m.accessCount IS :: INTEGER THEN m.accessCount END AS accessCount,
  CASE WHEN m.pinned IS :: BOOLEAN THEN m.pinned END AS pinned,
  CASE WHEN m.sessionId IS :: STRING THEN m.sessionId END AS session,
  CASE WHEN m.instanceId IS :: STRING THEN m.instanceId END AS instance,
  CASE WHEN m.promotedFrom IS :: STRING THEN m.promotedFrom END AS promotedFrom,
  CASE WHEN m.reinforcementCount IS :: INTEGER THEN m.reinforcementCount END AS reinforcementCount,
  [(m)-[:BELONGS_TO]->(c:SemanticCluster) WHERE valueType(c.id) = 'STRING NOT NULL' | c.id] AS clusters,
  [(m)-[:MENTIONS]->(e:Entity) WHERE valueType(e.name) = 'STRING NOT NULL' | e.name] AS mentions,
  CASE WHEN m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags END AS tags,
  CASE WHEN m.metadata IS :: STRING NOT NULL THEN m.metadata END AS metadata,
  CASE WHEN first <= m.updated < end THEN m.updated.epochMillis END AS updated,
  {
    source_path: CASE WHEN m.sourcePath IS :: STRING THEN m.sourcePath END,
    line_start: CASE WHEN m.lineStart IS :: INTEGER AND 1 <= m.lineStart <= 4294967295 THEN m.lineStart END,
    line_end: CASE WHEN m.lineEnd IS :: INTEGER AND 1 <= m.lineEnd <= 4294967295 THEN m.lineEnd END,
    excerpt: CASE WHEN m.excerpt IS :: STRING THEN m.excerpt END,
    namespace: CASE WHEN m.namespace IS :: STRING THEN m.namespace END,
    canonical: m.canonical IS :: BOOLEAN NOT NULL AND m.canonical
  } AS provenance,
  CASE WHEN m:EbbQuarantined THEN coalesce(toStringOrNull(m.ebbReason), 'no reason kept')
    WHEN NOT m.scope IS :: STRING THEN 'scope is not text'
    WHEN NOT m.accessCount IS :: INTEGER THEN 'accessCount is not a whole number'
    WHEN NOT m.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
  END AS fault
