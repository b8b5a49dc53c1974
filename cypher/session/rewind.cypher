// purpose: Bring sessions with dates ahead of the clock back to now.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// A session that waits for co-activation from a later instant on is not counted until then, the later of two ends is
// kept, and a session that began later is not trimmed. ebbMoved keeps the former dates. A session
// that co-activation never took up belongs to another library and is left alone.
MATCH (s:Session)
WHERE coalesce(s.coactivated, s.coactivateDue) IS NOT NULL
  AND any(at IN [s.started, s.ended, s.coactivateDue] WHERE at > datetime({epochMillis: $latest}))
WITH s LIMIT $limit
SET s.ebbLock = true
WITH s, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest
WITH s, now, coalesce(s.started > latest, false) AS began, coalesce(s.ended > latest, false) AS ended, coalesce(s.coactivateDue > latest, false) AS waits
SET s.ebbMoved = trim(CASE WHEN began THEN 'started ' + toString(s.started) + ' ' ELSE '' END
    + CASE WHEN ended THEN 'ended ' + toString(s.ended) + ' ' ELSE '' END
    + CASE WHEN waits THEN 'coactivateDue ' + toString(s.coactivateDue) ELSE '' END),
  s.started = CASE WHEN began THEN now ELSE s.started END,
  s.ended = CASE WHEN ended THEN now ELSE s.ended END,
  s.coactivateDue = CASE WHEN waits THEN now ELSE s.coactivateDue END
RETURN count(s) AS rewound
