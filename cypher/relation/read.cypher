// purpose: Read whole relations of a scope by the keys of a list, with their listed weights.
// mode: read
// params: $scope: String, $rows.key: List, $rows.weight: List
// returns: key: String, from: String, type: String, to: String, weight: Float, base: Float, weightAt: Integer, lastObserved: Integer, pinned: Boolean (one row for each key that exists, in their order)
UNWIND range(0, size($rows.key) - 1) AS i
MATCH (a)-[r:RELATES_TO {ebbKey: $rows.key[i]}]->(b)
USING INDEX SEEK r:RELATES_TO(ebbKey)
WHERE coalesce(a.scope, 'local') = $scope AND r.ebbReason IS NULL
  AND a.name IS :: STRING NOT NULL AND r.type IS :: STRING NOT NULL AND b.name IS :: STRING NOT NULL
  AND toFloatOrNull(r.baseWeight) IS NOT NULL AND r.weightAt IS :: ZONED DATETIME NOT NULL
  AND r.lastObserved IS :: ZONED DATETIME NOT NULL AND r.pinned IS :: BOOLEAN
RETURN r.ebbKey AS key, a.name AS from, r.type AS type, b.name AS to, $rows.weight[i] AS weight,
  toFloatOrNull(r.baseWeight) AS base, r.weightAt.epochMillis AS weightAt, r.lastObserved.epochMillis AS lastObserved,
  coalesce(r.pinned, false) AS pinned
ORDER BY i
