// Relations below the minimum: relations left out of retrieval until they are observed again
// purpose: Show relations whose weight is below the minimum, least first.
// mode: read
// params: none
// returns: scope, from, type, to, weight, lastObserved (at most 50 rows)
// clock: server
//
// Half-life and minimum are those of the configuration, which a worker and ebb init store; without, 90 days and 0.10.
OPTIONAL MATCH (scratch:EbbScratch {name: 'scratch'})
WITH coalesce(scratch.now, datetime()) AS now,
  coalesce(head(COLLECT { MATCH (s:EbbSettings {name: 'default'}) WHERE s.relationHalfLifeMs > 0.0 RETURN s.relationHalfLifeMs LIMIT 1 }), 7776000000.0) AS halfLifeMs,
  coalesce(head(COLLECT { MATCH (s:EbbSettings {name: 'default'}) WHERE s.relationMinimum >= 0.0 RETURN s.relationMinimum LIMIT 1 }), 0.10) AS minimum
MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity)
WHERE r.ebbKey IS NOT NULL AND r.ebbReason IS NULL AND NOT coalesce(r.pinned = true, false)
  AND 0.0 <= r.baseWeight <= 1.0 AND datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000}) AND datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000})
WITH a, r, b, now, halfLifeMs, minimum, CASE WHEN r.lastObserved > r.weightAt THEN 1.0 ELSE r.baseWeight END AS base,
  CASE WHEN r.lastObserved > r.weightAt THEN r.lastObserved ELSE r.weightAt END AS anchor
WITH a, r, b, minimum, CASE WHEN anchor >= now THEN base ELSE base * 0.5 ^ ((now.epochMillis - anchor.epochMillis) / halfLifeMs) END AS weight
WHERE weight < minimum
RETURN a.scope AS scope, a.name AS from, r.type AS type, b.name AS to, weight, r.lastObserved AS lastObserved
ORDER BY weight, from, to
LIMIT 50
