// purpose: Write the computed values of memories that this transaction has locked.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.tier: List, $rows.energy: List, $rows.energyAt: List, $rows.lastAccessed: List, $rows.accessCount: List, $rows.ripeAt: List, $rows.dueAt: List, $rows.pinned: List, $embeds: Boolean
// returns: nothing
// bound: a list of keys
// idempotent: by the receipt of its transaction
//
// Instants are epoch milliseconds, null where there is none; a memory that is not pinned has no such property. A
// revived memory is queued for the cluster job from the instant it was last written, so that the result does not depend
// on how events are cut into batches. Without an embedding it is queued to be embedded, if $embeds.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.clusterDue = CASE
    WHEN m.tier = 'expiredWorking' AND $rows.tier[i] = 'working' THEN coalesce(m.clusterDue, m.energyAt, m.lastAccessed)
    ELSE m.clusterDue
  END,
  m.embedDue = CASE
    WHEN $embeds AND m.tier = 'expiredWorking' AND $rows.tier[i] = 'working' AND m.embedding IS NULL
      THEN coalesce(m.embedDue, datetime({epochMillis: $rows.lastAccessed[i]}))
    ELSE m.embedDue
  END,
  m.tier = $rows.tier[i],
  m.energy = $rows.energy[i],
  m.energyAt = datetime({epochMillis: $rows.energyAt[i]}),
  m.lastAccessed = datetime({epochMillis: $rows.lastAccessed[i]}),
  m.accessCount = $rows.accessCount[i],
  m.ripeAt = CASE WHEN $rows.ripeAt[i] IS NULL THEN null ELSE datetime({epochMillis: $rows.ripeAt[i]}) END,
  m.dueAt = CASE WHEN $rows.dueAt[i] IS NULL THEN null ELSE datetime({epochMillis: $rows.dueAt[i]}) END,
  m.pinned = CASE WHEN $rows.pinned[i] THEN true END
