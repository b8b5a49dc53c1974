// purpose: Bring relations whose anchors are ahead of the clock back to now, with unchanged weights.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// As for memories, ebbMoved keeps the former dates.
MATCH ()-[r:RELATES_TO]->()
WHERE r.ebbKey IS NOT NULL AND r.ebbReason IS NULL
  AND (datetime({epochMillis: $latest}) < r.weightAt < datetime({epochMillis: 253402300800000})
    OR datetime({epochMillis: $latest}) < r.lastObserved < datetime({epochMillis: 253402300800000}))
WITH r LIMIT $limit
SET r.ebbLock = true
WITH r, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest, datetime({epochMillis: 253402300800000}) AS end
WITH r, now, latest < r.weightAt < end AS anchor, latest < r.lastObserved < end AS observed
SET r.ebbMoved = trim(CASE WHEN anchor THEN 'weightAt ' + toString(r.weightAt) + ' ' ELSE '' END
    + CASE WHEN observed THEN 'lastObserved ' + toString(r.lastObserved) ELSE '' END),
  r.weightAt = CASE WHEN anchor THEN now ELSE r.weightAt END,
  r.lastObserved = CASE WHEN observed THEN now ELSE r.lastObserved END
RETURN count(r) AS rewound
