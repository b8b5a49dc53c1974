// purpose: Decay the energy of a page of due memories to $now, and expire working ones below the threshold.
// mode: write
// params: $now: Integer, $afterSecond: Integer, $afterNano: Integer, $afterId: String, $afterScope: String, $limit: Integer, $workingDecay: Float, $shortTermDecay: Float, $longTermDecay: Float, $workingToShort: Float, $shortToLong: Float, $expiry: Float, $floor: Float, $longTermRewriteMs: Integer, $energyMax: Float
// returns: scanned: Integer, changed: Integer, expired: Integer, quarantined: Integer, left: List, lastSecond: Integer, lastNano: Integer, lastId: String, lastScope: String (one row)
// bound: $limit
// idempotent: by $now: a memory whose anchor has reached it is passed over
// law: domain::memory::decayed
// quarantine: SET m:EbbQuarantined, m.ebbReason = $reason RETURN count(*) AS scanned, 0 AS changed, 0 AS expired, count(*) AS quarantined, [row IN collect({scope: m.scope, id: id}) WHERE row.scope IS :: STRING NOT NULL] AS left, max(due.epochSeconds) AS lastSecond, max(due.nanosecond) AS lastNano, max(id) AS lastId, max(scope) AS lastScope
//
// The page is cut by the index before anything is written, in the order (dueAt, id, scope) after the last one seen: a working
// or short-term memory keeps its dueAt, so the scan does not meet again the rows that it moves. The instant is exact to
// the nanosecond, since the server's clock gives all rows of one statement one instant, and an id or a scope that is not
// text is ordered by its text form, so that every row has its position. A dueAt of another library is its own. Every row is locked, then checked again. A row whose
// values no law can use is quarantined with the reason and unchanged values.
// Each value is read once, and what most rows do not need is behind one condition: the expressions take more time than the
// writes.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(dueAt)
WHERE m.dueAt >= datetime({epochSeconds: $afterSecond, nanosecond: $afterNano})
  AND m.dueAt <= datetime({epochMillis: $now})
  AND (m.dueAt > datetime({epochSeconds: $afterSecond, nanosecond: $afterNano})
    OR coalesce(toStringOrNull(m.id), '') > $afterId
    OR coalesce(toStringOrNull(m.id), '') = $afterId AND coalesce(toStringOrNull(m.scope), '') > $afterScope)
  AND m:EbbMemory
WITH m, m.dueAt AS due, coalesce(toStringOrNull(m.id), '') AS id, coalesce(toStringOrNull(m.scope), '') AS scope
ORDER BY due, id, scope
LIMIT $limit
SET m.ebbLock = true
WITH m, due, id, scope, datetime({epochMillis: $now}) AS now, m.dueAt AS dueAt, m.tier AS tier, m.energy AS stored,
  m.energyAt AS energyAt, m.lastAccessed AS lastAccessed, m.ripeAt AS storedRipeAt, m.pinned AS pinned
WITH m, due, id, scope, now, dueAt, tier, stored, energyAt, lastAccessed, storedRipeAt, pinned,
  CASE WHEN m:EbbQuarantined THEN 'quarantined'
    WHEN NOT m.id IS :: STRING NOT NULL THEN 'id is not text'
    WHEN NOT m.scope IS :: STRING THEN 'scope is not text'
    WHEN NOT pinned IS :: BOOLEAN THEN 'pinned is not true or false'
    WHEN NOT storedRipeAt IS :: ZONED DATETIME THEN 'ripeAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= storedRipeAt < datetime({epochMillis: 253402300800000})) THEN 'ripeAt is outside the years 0001 to 9999'
    WHEN NOT stored IS :: FLOAT NOT NULL AND NOT stored IS :: INTEGER NOT NULL THEN 'energy is not a number'
    WHEN isNaN(toFloat(stored)) OR toFloat(stored) < 0.0 OR toFloat(stored) > $energyMax THEN 'energy is outside 0 to 1e12'
    WHEN NOT energyAt IS :: ZONED DATETIME NOT NULL THEN 'energyAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= energyAt < datetime({epochMillis: 253402300800000})) THEN 'energyAt is outside the years 0001 to 9999'
    WHEN NOT lastAccessed IS :: ZONED DATETIME NOT NULL THEN 'lastAccessed is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= lastAccessed < datetime({epochMillis: 253402300800000})) THEN 'lastAccessed is outside the years 0001 to 9999'
    WHEN NOT coalesce(tier, '') IN ['working', 'shortTerm', 'longTerm', 'expiredWorking', 'archivedWorking', 'archivedShortTerm'] THEN 'tier is unknown'
  END AS fault
WITH m, due, id, scope, now, fault, dueAt, tier, stored, storedRipeAt, pinned,
  CASE WHEN fault IS NULL AND lastAccessed > energyAt THEN lastAccessed ELSE energyAt END AS anchor,
  CASE WHEN fault IS NULL THEN lastAccessed > energyAt ELSE false END AS foreignAccess,
  CASE tier WHEN 'working' THEN $workingDecay WHEN 'shortTerm' THEN $shortTermDecay WHEN 'longTerm' THEN $longTermDecay END AS rate
WITH m, due, id, scope, now, fault, tier, storedRipeAt,
  CASE
    WHEN fault IS NOT NULL THEN NOT fault = 'quarantined'
    ELSE rate IS NOT NULL AND anchor < now AND dueAt <= now AND coalesce(pinned, false) = false
  END AS acts,
  CASE WHEN storedRipeAt IS NULL AND foreignAccess AND stored > CASE tier WHEN 'working' THEN $workingToShort WHEN 'shortTerm' THEN $shortToLong END THEN anchor ELSE storedRipeAt END AS ripeAt,
  CASE WHEN fault IS NULL THEN toFloat(stored) * exp(-(rate * ((now.epochMillis - anchor.epochMillis) / 3600000.0))) END AS energy
WITH m, due, id, scope, now, fault, acts, tier, ripeAt, energy,
  acts AND fault IS NULL AS fades,
  acts AND fault IS NULL AND tier = 'working' AND ripeAt IS NULL AND energy < $expiry AS expires,
  acts AND (fault IS NOT NULL OR tier = 'longTerm' OR ripeAt IS NOT NULL OR energy < $expiry OR energy < $floor) AS changesMore
FOREACH (_ IN CASE WHEN fades THEN [1] ELSE [] END |
  SET m.energy = energy, m.energyAt = now)
FOREACH (_ IN CASE WHEN changesMore THEN [1] ELSE [] END |
  FOREACH (_ IN CASE WHEN fades THEN [1] ELSE [] END |
    SET m.ripeAt = ripeAt)
  FOREACH (_ IN CASE WHEN expires THEN [1] ELSE [] END |
    SET m.tier = 'expiredWorking', m.lastExpired = now, m.dueAt = null,
      m.clusterDue = CASE WHEN EXISTS { (m)-[:BELONGS_TO]->() } THEN now ELSE m.clusterDue END)
  FOREACH (_ IN CASE WHEN fades AND tier = 'shortTerm' AND energy < $floor THEN [1] ELSE [] END |
    SET m.dueAt = null)
  FOREACH (_ IN CASE WHEN fades AND tier = 'longTerm' THEN [1] ELSE [] END |
    SET m.dueAt = CASE WHEN energy < $floor THEN null ELSE datetime({epochMillis: $now + $longTermRewriteMs}) END)
  FOREACH (_ IN CASE WHEN fault IS NOT NULL THEN [1] ELSE [] END |
    SET m:EbbQuarantined, m.ebbReason = fault,
      m.clusterDue = CASE WHEN EXISTS { (m)-[:BELONGS_TO]->() } THEN now ELSE m.clusterDue END))
WITH count(*) AS scanned,
  sum(CASE WHEN fades THEN 1 ELSE 0 END) AS changed,
  sum(CASE WHEN expires THEN 1 ELSE 0 END) AS expired,
  sum(CASE WHEN acts AND fault IS NOT NULL THEN 1 ELSE 0 END) AS quarantined,
  collect(CASE WHEN (expires OR (acts AND fault IS NOT NULL)) AND m.scope IS :: STRING NOT NULL THEN {scope: m.scope, id: id} END) AS left,
  max([due.epochSeconds, due.nanosecond, id, scope]) AS last
RETURN scanned, changed, expired, quarantined, left, last[0] AS lastSecond, last[1] AS lastNano, last[2] AS lastId, last[3] AS lastScope
