// purpose: Give relations of other writers a key and an anchor, or quarantine them.
// mode: write
// params: $rows.element: List, $rows.key: List, $rows.base: List, $rows.weightAt: List, $rows.pinned: List, $rows.fault: List
// returns: adopted: Integer, quarantined: Integer (one row)
// bound: a list of elements
// idempotent: by the key that an adopted one has, and the reason of one quarantined
//
// No two rows have one key. A relation whose key another relation has by now is a duplicate: it is unchanged and
// quarantined.
UNWIND range(0, size($rows.element) - 1) AS i
MATCH ()-[r:RELATES_TO]->()
WHERE elementId(r) = $rows.element[i]
SET r.ebbLock = true
WITH r, i
WHERE r.ebbKey IS NULL AND r.ebbReason IS NULL
WITH r, i, CASE WHEN $rows.fault[i] IS NOT NULL THEN $rows.fault[i]
    WHEN EXISTS { MATCH ()-[same:RELATES_TO {ebbKey: $rows.key[i]}]->() USING INDEX SEEK same:RELATES_TO(ebbKey) } THEN 'the same relation exists already'
  END AS fault
FOREACH (_ IN CASE WHEN fault IS NULL THEN [1] ELSE [] END |
  SET r.ebbKey = $rows.key[i], r.weight = $rows.base[i], r.baseWeight = $rows.base[i], r.pinned = $rows.pinned[i],
    r.weightAt = datetime({epochMillis: $rows.weightAt[i]}),
    r.lastObserved = coalesce(r.lastObserved, datetime({epochMillis: $rows.weightAt[i]})),
    r.created = coalesce(r.created, datetime({epochMillis: $rows.weightAt[i]})))
FOREACH (_ IN CASE WHEN fault IS NULL THEN [] ELSE [1] END |
  SET r.ebbReason = fault)
RETURN sum(CASE WHEN fault IS NULL THEN 1 ELSE 0 END) AS adopted, sum(CASE WHEN fault IS NULL THEN 0 ELSE 1 END) AS quarantined
