// purpose: Lock memories in the order given, read the values that the laws need, and compare any given content.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.content: List, $whole: Boolean
// returns: at: Integer (index in $rows.id), id, scope, tier, energy, dates, accessCount, pinned, session, same, claims, foreign, fault, rest: Map (one row for each memory that exists)
// bound: a list of keys
// idempotent: by writing nothing but the lock, and the scope that adoption would write
//
// A value of a wrong type comes back as null. Where the value is required, the reader reports it; where it is optional,
// fault does, so that no law takes it for absent and overwrites it. A quarantined row has its reason as fault. dates
// are energyAt, lastAccessed, created, ripeAt, dueAt and lastExpired: each in epoch milliseconds, or as the name of its type where
// it is no date within the years 0001 to 9999. One expression reads all of them, since the server plans this statement
// before the first write. A memory that was forgotten during the wait for its lock has no row. claims are the ids of
// the open attempts that hold the memory: one, unless another writer made a second. rest has the other columns of
// `memory/read` if $whole, else it is null.
//
// A memory of the documented shape that another writer made without a scope, and that no job has adopted, has the scope
// local. foreign: it is of another library, as in memory/adopt; such a row is not locked, which would change it. Its properties are
// read as those of own: no property of m may be read before the lock, since the server may keep what it read.
UNWIND range(0, size($rows.id) - 1) AS i
OPTIONAL MATCH (own:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK own:Memory(scope, id)
CALL (own, i) {
  OPTIONAL MATCH (bare:Memory {id: CASE WHEN own IS NULL AND $rows.scope[i] = 'local' THEN $rows.id[i] END})
  USING INDEX SEEK bare:Memory(id)
  WHERE bare.scope IS NULL AND (bare:EbbMemory OR bare.content IS NOT NULL AND (bare.tier IS NOT NULL OR bare.energy IS NOT NULL))
  RETURN bare
  ORDER BY elementId(bare)
  LIMIT 1
}
WITH i, coalesce(own, bare) AS m,
  coalesce(NOT own:EbbMemory AND (own.content IS NULL OR own.tier IS NULL AND own.energy IS NULL), false) AS foreign,
  datetime({epochMillis: -62135596800000}) AS first, datetime({epochMillis: 253402300800000}) AS end
WHERE m IS NOT NULL
FOREACH (_ IN CASE WHEN foreign THEN [] ELSE [1] END | SET m.ebbLock = true)
WITH m, i, first, end, foreign
WHERE m.id = $rows.id[i] AND coalesce(m.scope, 'local') = $rows.scope[i]
FOREACH (_ IN CASE WHEN m.scope IS NULL AND NOT foreign THEN [1] ELSE [] END | SET m.scope = 'local')
RETURN i AS at, m.id AS id,
  CASE WHEN m.scope IS :: STRING THEN m.scope END AS scope,
  CASE WHEN m.tier IS :: STRING THEN m.tier END AS tier,
  CASE WHEN m.energy IS :: FLOAT OR m.energy IS :: INTEGER THEN toFloat(m.energy) END AS energy,
  [date IN [m.energyAt, m.lastAccessed, m.created, m.ripeAt, m.dueAt, m.lastExpired] |
    CASE WHEN first <= date < end THEN date.epochMillis ELSE valueType(date) END] AS dates,
  CASE WHEN m.accessCount IS :: INTEGER THEN m.accessCount END AS accessCount,
  CASE WHEN m.pinned IS :: BOOLEAN THEN m.pinned END AS pinned,
  CASE WHEN m.sessionId IS :: STRING THEN m.sessionId END AS session,
  CASE WHEN $rows.content[i] IS NULL THEN null ELSE m.content = $rows.content[i] END AS same,
  [(m)-[:CONSOLIDATING]->(a:ConsolidationAttempt)
    WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false) |
    CASE WHEN a.id IS :: STRING NOT NULL THEN a.id ELSE elementId(a) END] AS claims,
  foreign,
  CASE WHEN foreign THEN 'it is of another library' WHEN m:EbbQuarantined THEN coalesce(toStringOrNull(m.ebbReason), 'no reason kept')
    WHEN NOT m.scope IS :: STRING THEN 'scope is not text'
    WHEN NOT m.accessCount IS :: INTEGER THEN 'accessCount is not a whole number'
    WHEN NOT m.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
  END AS fault,
  CASE WHEN $whole THEN {
    content: toStringOrNull(m.content),
    instance: CASE WHEN m.instanceId IS :: STRING THEN m.instanceId END,
    promotedFrom: CASE WHEN m.promotedFrom IS :: STRING THEN m.promotedFrom END,
    reinforcementCount: CASE WHEN m.reinforcementCount IS :: INTEGER THEN m.reinforcementCount END,
    clusters: [(m)-[:BELONGS_TO]->(c:SemanticCluster) WHERE valueType(c.id) = 'STRING NOT NULL' | c.id],
    mentions: [(m)-[:MENTIONS]->(e:Entity) WHERE valueType(e.name) = 'STRING NOT NULL' | e.name],
    tags: CASE WHEN m.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN m.tags END,
    metadata: CASE WHEN m.metadata IS :: STRING NOT NULL THEN m.metadata END,
    updated: CASE WHEN first <= m.updated < end THEN m.updated.epochMillis END,
    provenance: {
      source_path: CASE WHEN m.sourcePath IS :: STRING THEN m.sourcePath END,
      line_start: CASE WHEN m.lineStart IS :: INTEGER AND 1 <= m.lineStart <= 4294967295 THEN m.lineStart END,
      line_end: CASE WHEN m.lineEnd IS :: INTEGER AND 1 <= m.lineEnd <= 4294967295 THEN m.lineEnd END,
      excerpt: CASE WHEN m.excerpt IS :: STRING THEN m.excerpt END,
      namespace: CASE WHEN m.namespace IS :: STRING THEN m.namespace END,
      canonical: m.canonical IS :: BOOLEAN NOT NULL AND m.canonical
    }
  } END AS rest
