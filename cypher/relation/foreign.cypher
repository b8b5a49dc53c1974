// purpose: Read relations of other writers that are not yet adopted.
// mode: read
// params: $limit: Integer
// returns: element: String, scope: String, from: String, type: String, to: String, weight: Float, lastObserved: Integer, created: Integer, pinned: Boolean, fault: String (at most $limit rows)
// quarantine: SET r.ebbReason = $reason RETURN 0 AS adopted, count(*) AS quarantined
//
// A relationship without a type of its own is an edge of the palace and no relation. This scans every relationship
// without a key, so it belongs to a pass that scans all of them anyway. One from before an uninstallation has the weight
// and the instant that it faded from. Between entities with a uuid or an id, it is of another library.
MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity)
WHERE r.ebbKey IS NULL AND r.type IS NOT NULL AND r.weight IS NOT NULL AND r.ebbReason IS NULL AND a.uuid IS NULL AND a.id IS NULL AND b.uuid IS NULL AND b.id IS NULL
WITH a, r, b
LIMIT $limit
WITH a, r, b, r.baseWeight IS :: FLOAT NOT NULL AND datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000}) AS anchored
RETURN elementId(r) AS element,
  CASE WHEN a.scope IS :: STRING NOT NULL THEN a.scope ELSE 'local' END AS scope,
  CASE WHEN a.name IS :: STRING THEN a.name END AS from,
  CASE WHEN r.type IS :: STRING THEN r.type END AS type,
  CASE WHEN b.name IS :: STRING THEN b.name END AS to,
  CASE WHEN anchored THEN r.baseWeight WHEN r.weight IS :: FLOAT OR r.weight IS :: INTEGER THEN toFloat(r.weight) END AS weight,
  CASE WHEN anchored THEN r.weightAt.epochMillis WHEN datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000}) THEN r.lastObserved.epochMillis END AS lastObserved,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.created < datetime({epochMillis: 253402300800000}) THEN r.created.epochMillis END AS created,
  CASE WHEN r.pinned IS :: BOOLEAN THEN r.pinned END AS pinned,
  CASE WHEN NOT a.name IS :: STRING NOT NULL OR NOT b.name IS :: STRING NOT NULL THEN 'an end has no name'
    WHEN coalesce(a.scope, 'local') <> coalesce(b.scope, 'local') THEN 'its ends are of different scopes'
    WHEN NOT r.type IS :: STRING THEN 'type is not text'
    WHEN NOT r.weight IS :: FLOAT AND NOT r.weight IS :: INTEGER THEN 'weight is not a number'
    WHEN NOT r.lastObserved IS :: ZONED DATETIME THEN 'lastObserved is not a date with time and zone'
    WHEN NOT (datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000})) THEN 'lastObserved is outside the years 0001 to 9999'
    WHEN NOT r.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
  END AS fault
