// purpose: Read when the first working memory falls below the expiry threshold, if nothing accesses it before.
// mode: read
// params: $rate: Float, $expiry: Float
// returns: at: Float (epoch milliseconds; null where none will; one row)
// law: domain::memory::crossings
//
// A memory whose values no law can use is due at once, to be quarantined. One that waits for promotion does not expire.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(dueAt)
WHERE m.dueAt >= datetime({epochMillis: -62135596800000}) AND m.tier = 'working' AND m.ripeAt IS NULL
  AND NOT coalesce(m.pinned = true, false) AND m:EbbMemory AND NOT m:EbbQuarantined
WITH CASE WHEN m.energy IS :: FLOAT NOT NULL OR m.energy IS :: INTEGER NOT NULL THEN toFloat(m.energy) END AS energy,
  CASE WHEN m.energyAt IS :: ZONED DATETIME NOT NULL AND m.lastAccessed IS :: ZONED DATETIME NOT NULL
    THEN CASE WHEN m.lastAccessed > m.energyAt THEN m.lastAccessed ELSE m.energyAt END END AS anchor
RETURN min(CASE WHEN energy IS NULL OR anchor IS NULL THEN -62135596800000.0
  WHEN energy < $expiry THEN toFloat(anchor.epochMillis)
  ELSE anchor.epochMillis + log(energy / $expiry) / $rate * 3600000.0 END) AS at
