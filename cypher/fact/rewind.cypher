// purpose: Bring facts that were asserted ahead of the clock back to now.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// The latest fact of a lineage is its head: one with a date in the future would stay the head for ever. An origin ahead
// of the clock counts as zero age. ebbMoved keeps the former dates.
MATCH (f:EbbFact)
WHERE (datetime({epochMillis: $latest}) < f.assertedAt < datetime({epochMillis: 253402300800000})
    OR datetime({epochMillis: $latest}) < f.originAt < datetime({epochMillis: 253402300800000}))
  AND NOT f:EbbQuarantined
WITH f LIMIT $limit
SET f.ebbLock = true
WITH f, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest
WITH f, now, coalesce(f.assertedAt > latest, false) AS said, coalesce(f.originAt > latest, false) AS first
SET f.ebbMoved = trim(CASE WHEN said THEN 'assertedAt ' + toString(f.assertedAt) + ' ' ELSE '' END
    + CASE WHEN first THEN 'originAt ' + toString(f.originAt) ELSE '' END),
  f.assertedAt = CASE WHEN said THEN now ELSE f.assertedAt END,
  f.originAt = CASE WHEN first THEN now ELSE f.originAt END
RETURN count(f) AS rewound
