// purpose: Bring memories whose anchors are ahead of the clock back to now, with unchanged energies.
// mode: write
// params: $now: Integer, $latest: Integer, $limit: Integer
// returns: rewound: Integer (one row)
// bound: $limit
// idempotent: by the dates
//
// No law applies before the anchor is reached, an access before it does not count, and a memory that is due from an
// instant on waits until that is reached. A memory may wait up to a day to be embedded again, or to reinforce others
// (embedding/write, memory/create). ebbMoved keeps the former dates. A date outside the supported years is not
// moved: that row is quarantined. Each row is locked first and checked after.
MATCH (m:EbbMemory)
WHERE NOT m:EbbQuarantined AND m.promotionKey IS NULL
  AND (any(at IN [m.energyAt, m.lastAccessed, m.ripeAt, m.created, m.clusterDue] WHERE at > datetime({epochMillis: $latest}))
    OR any(at IN [m.reinforceDue, m.embedDue] WHERE at > datetime({epochMillis: $latest + 86400000})))
WITH m LIMIT $limit
SET m.ebbLock = true
WITH m, datetime({epochMillis: $now}) AS now, datetime({epochMillis: $latest}) AS latest,
  datetime({epochMillis: $latest + 86400000}) AS later, datetime({epochMillis: 253402300800000}) AS end
WITH m, now, end, latest < m.energyAt < end AS energy, latest < m.lastAccessed < end AS accessed, latest < m.ripeAt < end AS ripe,
  latest < m.created < end AS made, m.clusterDue > latest AS clusters, 
  coalesce(m.reinforceDue > later, false) OR coalesce(latest < m.created < end AND m.reinforceDue > now AND m.embedDue IS NULL, false) AS reinforces,
  coalesce(m.embedDue > later, false) OR coalesce(latest < m.created < end AND m.embedDue > now, false) AS embeds,
  CASE WHEN m.energyAt >= end THEN 'energyAt' WHEN m.lastAccessed >= end THEN 'lastAccessed' WHEN m.ripeAt >= end THEN 'ripeAt'
    WHEN m.created >= end THEN 'created' END AS beyond
FOREACH (_ IN CASE WHEN beyond IS NULL THEN [1] ELSE [] END |
  SET m.ebbMoved = trim(CASE WHEN energy THEN 'energyAt ' + toString(m.energyAt) + ' ' ELSE '' END
      + CASE WHEN accessed THEN 'lastAccessed ' + toString(m.lastAccessed) + ' ' ELSE '' END
      + CASE WHEN ripe THEN 'ripeAt ' + toString(m.ripeAt) + ' ' ELSE '' END
      + CASE WHEN made THEN 'created ' + toString(m.created) + ' ' ELSE '' END
      + CASE WHEN clusters THEN 'clusterDue ' + toString(m.clusterDue) + ' ' ELSE '' END
      + CASE WHEN reinforces THEN 'reinforceDue ' + toString(m.reinforceDue) + ' ' ELSE '' END
      + CASE WHEN embeds THEN 'embedDue ' + toString(m.embedDue) ELSE '' END),
    m.dueAt = CASE WHEN energy OR accessed OR ripe THEN CASE WHEN m.dueAt > now THEN now ELSE m.dueAt END ELSE m.dueAt END,
    m.ripeAt = CASE WHEN ripe THEN now ELSE m.ripeAt END,
    m.energyAt = CASE WHEN energy THEN now ELSE m.energyAt END,
    m.lastAccessed = CASE WHEN accessed THEN now ELSE m.lastAccessed END,
    m.created = CASE WHEN made THEN now ELSE m.created END,
    m.embedDue = CASE WHEN embeds THEN now ELSE m.embedDue END,
    m.clusterDue = CASE WHEN clusters THEN now ELSE m.clusterDue END,
    m.reinforceDue = CASE WHEN reinforces THEN now ELSE m.reinforceDue END)
FOREACH (_ IN CASE WHEN beyond IS NOT NULL THEN [1] ELSE [] END |
  SET m:EbbQuarantined, m.ebbReason = beyond + ' is outside the years 0001 to 9999')
RETURN count(m) AS rewound
