// purpose: Write the weights of a page of relations at $now, always computed from the base weight.
// mode: write
// params: $now: Integer, $after: String, $limit: Integer, $halfLifeMs: Float, $minimum: Float, $rows.pinFrom: List, $rows.pinType: List, $rows.pinTo: List
// returns: scanned: Integer, changed: Integer, pinned: Integer, held: Integer, below: Integer, adopted: Integer, quarantined: Integer, released: Integer, last: String (one row)
// bound: $limit
// idempotent: by $now: a relation whose stored weight is that of $now is passed over
// law: domain::relation::weight
// quarantine: SET r.ebbReason = $reason RETURN count(*) AS scanned, 0 AS changed, 0 AS pinned, 0 AS held, 0 AS below, 0 AS adopted, count(*) AS quarantined, 0 AS released, max(key) AS last
//
// The page is cut by the index of keys before anything is written. Each relation is locked, then checked. A relation
// that another writer observed since its anchor weighs 1 from then on. A relation whose values no law can use is
// quarantined with the reason as its mark, since a relationship has no labels, and is released when the values are
// repaired; one on which this statement failed is released on request. A relation that the configuration pins is pinned
// at its present weight.
MATCH ()-[r:RELATES_TO]->()
WHERE r.ebbKey > $after
WITH r, r.ebbKey AS key
ORDER BY key
LIMIT $limit
SET r.ebbLock = true
WITH r, key, datetime({epochMillis: $now}) AS now,
  r.ebbReason IS NOT NULL AS wasAside,
  CASE WHEN r.ebbReason CONTAINS ' failed on it: ' THEN r.ebbReason
    WHEN NOT r.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
    WHEN NOT r.baseWeight IS :: FLOAT NOT NULL AND NOT r.baseWeight IS :: INTEGER NOT NULL THEN 'baseWeight is not a number'
    WHEN isNaN(toFloat(r.baseWeight)) OR toFloat(r.baseWeight) < 0.0 OR toFloat(r.baseWeight) > 1.0 THEN 'baseWeight is outside 0 to 1'
    WHEN NOT r.weightAt IS :: ZONED DATETIME NOT NULL THEN 'weightAt is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000})) THEN 'weightAt is outside the years 0001 to 9999'
    WHEN NOT r.lastObserved IS :: ZONED DATETIME NOT NULL THEN 'lastObserved is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000})) THEN 'lastObserved is outside the years 0001 to 9999'
  END AS fault
WITH r, key, now, wasAside, fault,
  CASE WHEN fault IS NULL THEN coalesce(r.pinned, false) END AS isPinned,
  CASE WHEN fault IS NULL THEN r.lastObserved > r.weightAt AND NOT coalesce(r.pinned, false) END AS foreignObservation,
  fault IS NULL AND NOT coalesce(r.pinned, false) AND any(n IN range(0, size($rows.pinType) - 1)
    WHERE $rows.pinType[n] = r.type
      AND ($rows.pinFrom[n] IS NULL OR $rows.pinFrom[n] = startNode(r).name)
      AND ($rows.pinTo[n] IS NULL OR $rows.pinTo[n] = endNode(r).name)) AS isToBeHeld
WITH r, key, now, wasAside, fault, isPinned, foreignObservation, isToBeHeld,
  CASE WHEN foreignObservation THEN r.lastObserved WHEN fault IS NULL THEN r.weightAt END AS anchor,
  CASE WHEN foreignObservation THEN 1.0 WHEN fault IS NULL THEN toFloat(r.baseWeight) END AS base
WITH r, key, now, wasAside, fault, isPinned, foreignObservation, isToBeHeld, anchor, base,
  CASE WHEN isPinned OR anchor >= now THEN base
    WHEN fault IS NULL THEN base * 0.5 ^ ((now.epochMillis - anchor.epochMillis) / $halfLifeMs)
  END AS weight,
  CASE WHEN r.weight IS :: FLOAT OR r.weight IS :: INTEGER THEN toFloat(r.weight) END AS stored
FOREACH (_ IN CASE WHEN fault IS NULL AND (stored IS NULL OR stored <> weight) THEN [1] ELSE [] END |
  SET r.weight = weight)
FOREACH (_ IN CASE WHEN foreignObservation THEN [1] ELSE [] END |
  SET r.baseWeight = base, r.weightAt = anchor)
FOREACH (_ IN CASE WHEN isToBeHeld THEN [1] ELSE [] END |
  SET r.pinned = true, r.baseWeight = weight, r.weightAt = CASE WHEN anchor > now THEN anchor ELSE now END)
FOREACH (_ IN CASE WHEN (fault IS NULL) = wasAside THEN [1] ELSE [] END |
  SET r.ebbReason = fault)
WITH key, wasAside, fault, foreignObservation, weight, stored, isToBeHeld,
  coalesce(isPinned OR isToBeHeld, false) AS isPinned, fault IS NULL AND NOT isPinned AND NOT isToBeHeld AS fades
RETURN count(*) AS scanned,
  sum(CASE WHEN fades AND NOT foreignObservation AND (stored IS NULL OR stored - weight > 1e-9) THEN 1 ELSE 0 END) AS changed,
  sum(CASE WHEN isPinned THEN 1 ELSE 0 END) AS pinned,
  sum(CASE WHEN isToBeHeld THEN 1 ELSE 0 END) AS held,
  sum(CASE WHEN fades AND weight < $minimum THEN 1 ELSE 0 END) AS below,
  sum(CASE WHEN foreignObservation THEN 1 ELSE 0 END) AS adopted,
  sum(CASE WHEN fault IS NOT NULL AND NOT wasAside THEN 1 ELSE 0 END) AS quarantined,
  sum(CASE WHEN fault IS NULL AND wasAside THEN 1 ELSE 0 END) AS released,
  max(key) AS last
