// purpose: Adopt memories of the documented shape that other writers created, from one stamp to the next.
// mode: write
// params: $now: Integer, $limit: Integer, $workingToShort: Float, $shortToLong: Float, $floor: Float, $longTermRewriteMs: Integer, $energyMax: Float, $embeds: Boolean
// returns: adopted: Integer, quarantined: Integer (one row)
// bound: $limit
// idempotent: by the label EbbMemory
// law: domain::memory::adopted
// quarantine: SET m:EbbMemory:EbbQuarantined, m.ebbReason = $reason RETURN 0 AS adopted, count(*) AS quarantined
//
// Only a memory with an id, a content, and a tier or an energy is adopted, and a stub, which has no content: after an
// uninstallation it is without its label. Any other is of another library, and is left unchanged.
//
// The anchor is the last access, else the creation, else now. Missing values get those of a new memory; a value of a
// wrong type quarantines the row. A terminal row only gets the stamp; a working one that is new to Ebb is queued to
// reinforce similar ones; one with pairs or a cluster to be clustered, since cluster counts rows of Ebb's alone; one without an embedding to be embedded, if $embeds. A row without a scope has the scope local, unless a memory there has its id. dueAt is written
// in UTC whatever the zone of the anchor: the index orders equal instants by their zones, and the pages of a decay pass
// are ordered by instant and id. Where another library alone has a session of its sessionId, as in session/open, it gets none.
MATCH (m:Memory)
WHERE NOT m:EbbMemory AND m.id IS NOT NULL AND CASE WHEN m.content IS NOT NULL THEN m.tier IS NOT NULL OR m.energy IS NOT NULL
  ELSE m.promotionKey IS NOT NULL AND m.tier IN ['archivedWorking', 'archivedShortTerm'] AND EXISTS { (m)-[:PROMOTED_TO|CRYSTALLIZED_INTO]->(:Memory) } END
WITH m LIMIT $limit
SET m.ebbLock = true
WITH m, coalesce(m.tier, 'working') AS tier, datetime({epochMillis: $now}) AS now
WITH m, tier, now, tier IN ['working', 'shortTerm', 'longTerm'] AS live,
  CASE WHEN NOT m.id IS :: STRING NOT NULL OR trim(m.id) = '' THEN 'id is not text'
    WHEN NOT m.energy IS :: FLOAT AND NOT m.energy IS :: INTEGER THEN 'energy is not a number'
    WHEN m.energy IS NOT NULL AND (isNaN(toFloat(m.energy)) OR toFloat(m.energy) < 0.0 OR toFloat(m.energy) > $energyMax) THEN 'energy is outside 0 to 1e12'
    WHEN NOT m.lastAccessed IS :: ZONED DATETIME THEN 'lastAccessed is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= m.lastAccessed < datetime({epochMillis: 253402300800000})) THEN 'lastAccessed is outside the years 0001 to 9999'
    WHEN NOT m.energyAt IS :: ZONED DATETIME THEN 'energyAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= m.energyAt < datetime({epochMillis: 253402300800000})) THEN 'energyAt is outside the years 0001 to 9999'
    WHEN NOT m.created IS :: ZONED DATETIME THEN 'created is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= m.created < datetime({epochMillis: 253402300800000})) THEN 'created is outside the years 0001 to 9999'
    WHEN NOT m.accessCount IS :: INTEGER THEN 'accessCount is not a whole number'
    WHEN NOT m.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
    WHEN NOT m.scope IS :: STRING THEN 'scope is not text'
    WHEN size(m.scope) > 1024 THEN 'scope is longer than 1024 characters'
    WHEN NOT m.sessionId IS :: STRING THEN 'sessionId is not text'
    WHEN size(m.sessionId) > 1024 THEN 'sessionId is longer than 1024 characters'
    WHEN NOT m.content IS :: STRING THEN 'content is not text'
    WHEN NOT m.ripeAt IS :: ZONED DATETIME THEN 'ripeAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= m.ripeAt < datetime({epochMillis: 253402300800000})) THEN 'ripeAt is outside the years 0001 to 9999'
    WHEN NOT tier IN ['working', 'shortTerm', 'longTerm', 'expiredWorking', 'archivedWorking', 'archivedShortTerm'] THEN 'tier is unknown'
    WHEN m.scope IS NULL AND (EXISTS { MATCH (same:Memory {scope: 'local', id: m.id}) USING INDEX SEEK same:Memory(scope, id) }
      OR EXISTS { MATCH (o:Memory {id: m.id}) WHERE o.scope IS NULL AND elementId(o) < elementId(m) }) THEN 'id is that of another memory of the scope local'
  END AS fault
WITH m, tier, now, fault, live AND fault IS NULL AS lives,
  CASE WHEN fault IS NULL THEN toFloat(coalesce(m.energy, 1.0)) END AS energy,
  CASE WHEN fault IS NULL THEN coalesce(m.lastAccessed, m.created, now) END AS accessed
WITH m, tier, now, fault, lives, energy, accessed,
  CASE WHEN m.energyAt > accessed THEN m.energyAt ELSE accessed END AS anchor,
  CASE tier WHEN 'working' THEN $workingToShort WHEN 'shortTerm' THEN $shortToLong END AS threshold,
  coalesce(m.pinned, false) AS pinned
SET m:EbbMemory
FOREACH (_ IN CASE WHEN fault IS NOT NULL THEN [1] ELSE [] END |
  SET m:EbbQuarantined, m.ebbReason = fault)
FOREACH (_ IN CASE WHEN fault IS NULL THEN [1] ELSE [] END |
  SET m.scope = coalesce(m.scope, 'local'), m.tier = tier,
    m.clusterDue = CASE WHEN EXISTS { (m)-[:BELONGS_TO|COACTIVATED]-() } THEN coalesce(m.clusterDue, now) ELSE m.clusterDue END)
FOREACH (_ IN CASE WHEN lives THEN [1] ELSE [] END |
  SET m.energy = energy,
    m.reinforceDue = CASE WHEN m.energyAt IS NULL AND tier = 'working'
      THEN coalesce(m.reinforceDue, CASE WHEN $embeds AND m.embedding IS NULL THEN now + duration('P1D') ELSE now END) ELSE m.reinforceDue END,
    m.embedDue = CASE WHEN $embeds AND m.embedding IS NULL THEN coalesce(m.embedDue, now) ELSE m.embedDue END,
    m.energyAt = anchor,
    m.lastAccessed = accessed,
    m.created = coalesce(m.created, accessed),
    m.accessCount = coalesce(m.accessCount, 1),
    m.ripeAt = CASE WHEN pinned THEN null WHEN m.ripeAt IS NOT NULL THEN m.ripeAt WHEN energy > threshold THEN anchor END,
    m.dueAt = CASE
      WHEN pinned OR (tier <> 'working' AND energy < $floor) THEN null
      ELSE datetime({epochMillis: anchor.epochMillis + CASE tier WHEN 'longTerm' THEN $longTermRewriteMs ELSE 0 END})
    END)
FOREACH (session IN CASE WHEN lives AND m.sessionId IS NOT NULL AND (EXISTS { MATCH (same:Session {scope: m.scope, id: m.sessionId}) USING INDEX SEEK same:Session(scope, id) } OR NOT EXISTS {
    MATCH (o:Session {id: m.sessionId})
    USING INDEX SEEK o:Session(id)
    WHERE o.scope IS NULL AND EXISTS { (o)--() } AND NOT EXISTS { (o)<-[:ACCESSED_IN]-(:Memory) }
  }) THEN [m.sessionId] ELSE [] END |
  MERGE (s:Session {scope: m.scope, id: session})
    ON CREATE SET s.started = accessed
  MERGE (m)-[a:ACCESSED_IN]->(s)
    ON CREATE SET a.at = accessed, a.count = m.accessCount, a.counted = false)
FOREACH (s IN CASE WHEN lives THEN [(m)-[:ACCESSED_IN]->(joined:Session) WHERE joined.scope = m.scope | joined] ELSE [] END |
  SET s.coactivateDue = coalesce(s.coactivateDue, now))
RETURN sum(CASE WHEN fault IS NULL THEN 1 ELSE 0 END) AS adopted,
  sum(CASE WHEN fault IS NOT NULL THEN 1 ELSE 0 END) AS quarantined
