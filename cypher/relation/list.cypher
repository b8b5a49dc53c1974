// purpose: List relations of a scope with their weights at $now, by key.
// mode: read
// params: $scope: String, $now: Integer, $halfLifeMs: Float, $minimum: Float, $which: String, $after: String, $limit: Integer
// returns: key: String, from: String, type: String, to: String, weight: Float, base: Float, weightAt: Integer, lastObserved: Integer, pinned: Boolean (at most $limit rows)
// law: domain::relation::weight
//
// $which: retrievable, decayed (below the minimum), or lowered (the stored weight would be lowered by a pass). The
// weight is computed here, so that a missed pass cannot show a stale relation.
MATCH (a)-[r:RELATES_TO]->(b)
WHERE r.ebbKey > $after AND coalesce(a.scope, 'local') = $scope AND r.ebbReason IS NULL
  AND a.name IS :: STRING NOT NULL AND r.type IS :: STRING NOT NULL AND b.name IS :: STRING NOT NULL
  AND 0.0 <= r.baseWeight <= 1.0 AND datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000})
  AND datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000}) AND r.pinned IS :: BOOLEAN
WITH a, r, b, coalesce(r.pinned, false) AS pinned,
  CASE WHEN r.lastObserved > r.weightAt AND NOT coalesce(r.pinned, false) THEN r.lastObserved ELSE r.weightAt END AS anchor,
  CASE WHEN r.lastObserved > r.weightAt AND NOT coalesce(r.pinned, false) THEN 1.0 ELSE toFloatOrNull(r.baseWeight) END AS base
WITH a, r, b, pinned, base, anchor,
  CASE WHEN pinned OR anchor.epochMillis >= $now THEN base
    ELSE base * 0.5 ^ (($now - anchor.epochMillis) / $halfLifeMs)
  END AS weight
WHERE CASE $which
    WHEN 'decayed' THEN NOT pinned AND weight < $minimum
    WHEN 'lowered' THEN NOT pinned AND coalesce(toFloatOrNull(r.weight), 2.0) - weight > 1e-9
    ELSE pinned OR weight >= $minimum
  END
RETURN r.ebbKey AS key, a.name AS from, r.type AS type, b.name AS to, weight, base, anchor.epochMillis AS weightAt, r.lastObserved.epochMillis AS lastObserved, pinned
ORDER BY key
LIMIT $limit
