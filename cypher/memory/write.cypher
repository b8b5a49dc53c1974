// purpose: Write what the laws made of memories that this transaction has locked.
// mode: write
// params: $id: List, $tier: List, $energy: List, $energyAt: List, $lastAccessed: List, $accessCount: List, $ripeAt: List, $dueAt: List, $pinned: List
// returns: changed: Integer (one row)
// bound: a list of ids
// idempotent: by the receipt of its transaction
//
// Instants are epoch milliseconds, null where there is none; a memory that is not pinned has no such property. One that
// comes back to life is to be looked at by the clusters, since the instant it was last written: however events are cut
// into batches, that is the same.
UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {id: $id[i]})
SET m.clusterDue = CASE
    WHEN m.tier = 'expiredWorking' AND $tier[i] = 'working' THEN coalesce(m.clusterDue, m.energyAt, m.lastAccessed)
    ELSE m.clusterDue
  END,
  m.tier = $tier[i],
  m.energy = $energy[i],
  m.energyAt = datetime({epochMillis: $energyAt[i]}),
  m.lastAccessed = datetime({epochMillis: $lastAccessed[i]}),
  m.accessCount = $accessCount[i],
  m.ripeAt = CASE WHEN $ripeAt[i] IS NULL THEN null ELSE datetime({epochMillis: $ripeAt[i]}) END,
  m.dueAt = CASE WHEN $dueAt[i] IS NULL THEN null ELSE datetime({epochMillis: $dueAt[i]}) END,
  m.pinned = CASE WHEN $pinned[i] THEN true END
RETURN count(*) AS changed
