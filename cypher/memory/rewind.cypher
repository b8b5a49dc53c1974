// purpose: Bring memories whose anchors lie ahead of the clock back to now, their energies as they are.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// A law fades nothing until its anchor has come, and an access before it does not count. ebbMoved keeps what the dates were. A date outside
// the years that can be counted with is not moved: that row is set aside. Each is locked first and looked at after.
MATCH (m:Memory)
WHERE (m.energyAt > datetime({epochMillis: $latest}) OR m.lastAccessed > datetime({epochMillis: $latest})
    OR m.ripeAt > datetime({epochMillis: $latest}))
  AND NOT m:EbbQuarantined AND m.promotionKey IS NULL
WITH m LIMIT $limit
SET m.ebbLock = true
WITH m, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest, datetime({epochMillis: 253402300800000}) AS end
WITH m, now, latest < m.energyAt < end AS energy, latest < m.lastAccessed < end AS accessed, latest < m.ripeAt < end AS ripe,
  coalesce(m.energyAt >= end, false) OR coalesce(m.lastAccessed >= end, false) OR coalesce(m.ripeAt >= end, false) AS beyond
SET m.ebbMoved = CASE WHEN beyond THEN m.ebbMoved ELSE trim(CASE WHEN energy THEN 'energyAt ' + toString(m.energyAt) + ' ' ELSE '' END
    + CASE WHEN accessed THEN 'lastAccessed ' + toString(m.lastAccessed) + ' ' ELSE '' END
    + CASE WHEN ripe THEN 'ripeAt ' + toString(m.ripeAt) ELSE '' END) END,
  m.dueAt = CASE WHEN NOT beyond AND m.dueAt > now THEN now ELSE m.dueAt END,
  m.ripeAt = CASE WHEN NOT beyond AND ripe THEN now ELSE m.ripeAt END,
  m.energyAt = CASE WHEN NOT beyond AND energy THEN now ELSE m.energyAt END,
  m.lastAccessed = CASE WHEN NOT beyond AND accessed THEN now ELSE m.lastAccessed END
FOREACH (_ IN CASE WHEN beyond THEN [1] ELSE [] END |
  SET m:EbbQuarantined, m.ebbReason = CASE WHEN m.energyAt >= datetime({epochMillis: 253402300800000}) THEN 'energyAt' WHEN m.lastAccessed >= datetime({epochMillis: 253402300800000}) THEN 'lastAccessed' ELSE 'ripeAt' END
    + ' is outside the years 0001 to 9999')
RETURN count(m) AS rewound
