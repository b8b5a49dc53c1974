// purpose: Bring pairs of memories, or of files of a git repository, with access dates ahead of the clock back to now, with unchanged weights.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// The later of two dates is kept. ebbMoved keeps the former dates.
MATCH (a)-[c:COACTIVATED]->()
WHERE (c.firstCoactivation > datetime({epochMillis: $latest}) OR c.lastCoactivation > datetime({epochMillis: $latest}))
  AND (a:EbbMemory OR a:File AND a.repository IS NOT NULL)
WITH c LIMIT $limit
SET c.ebbLock = true
WITH c, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest
WITH c, now, coalesce(c.firstCoactivation > latest, false) AS first, coalesce(c.lastCoactivation > latest, false) AS last
SET c.ebbMoved = trim(CASE WHEN first THEN 'firstCoactivation ' + toString(c.firstCoactivation) + ' ' ELSE '' END
    + CASE WHEN last THEN 'lastCoactivation ' + toString(c.lastCoactivation) ELSE '' END),
  c.firstCoactivation = CASE WHEN first THEN now ELSE c.firstCoactivation END,
  c.lastCoactivation = CASE WHEN last THEN now ELSE c.lastCoactivation END
RETURN count(c) AS rewound
