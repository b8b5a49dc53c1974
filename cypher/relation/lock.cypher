// purpose: Lock relations in the order given and read the values that the laws need.
// mode: write
// params: $rows.key: List
// returns: key, base, weightAt, lastObserved, pinned, fault (one row for each key that exists)
// bound: a list of keys
// idempotent: by writing nothing but the lock
//
// A value of a wrong type comes back as null and is named by fault, so that no law takes it for absent.
UNWIND $rows.key AS key
MATCH ()-[r:RELATES_TO {ebbKey: key}]->()
USING INDEX SEEK r:RELATES_TO(ebbKey)
SET r.ebbLock = true
RETURN key,
  CASE WHEN r.baseWeight IS :: FLOAT OR r.baseWeight IS :: INTEGER THEN toFloat(r.baseWeight) END AS base,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000}) THEN r.weightAt.epochMillis END AS weightAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000}) THEN r.lastObserved.epochMillis END AS lastObserved,
  CASE WHEN r.pinned IS :: BOOLEAN THEN r.pinned END AS pinned,
  CASE WHEN r.ebbReason IS NOT NULL THEN toStringOrNull(r.ebbReason)
    WHEN NOT r.pinned IS :: BOOLEAN THEN 'pinned is not true or false'
  END AS fault
