// purpose: Create memories.
// mode: write
// params: $scope: List, $id: List, $content: List, $tier: List, $energy: List, $energyAt: List, $lastAccessed: List, $accessCount: List, $ripeAt: List, $dueAt: List, $pinned: List, $created: List, $session: List, $instance: List
// returns: created: Integer (one row)
// bound: a list of ids
// idempotent: by the unique id, and by the receipt of its transaction
//
// Instants are epoch milliseconds, null where there is none; a memory that is not pinned has no such property.
UNWIND range(0, size($id) - 1) AS i
CREATE (m:Memory:EbbStamped {
  id: $id[i],
  scope: $scope[i],
  content: $content[i],
  tier: $tier[i],
  energy: $energy[i],
  energyAt: datetime({epochMillis: $energyAt[i]}),
  lastAccessed: datetime({epochMillis: $lastAccessed[i]}),
  accessCount: $accessCount[i],
  ripeAt: CASE WHEN $ripeAt[i] IS NULL THEN null ELSE datetime({epochMillis: $ripeAt[i]}) END,
  dueAt: CASE WHEN $dueAt[i] IS NULL THEN null ELSE datetime({epochMillis: $dueAt[i]}) END,
  pinned: CASE WHEN $pinned[i] THEN true END,
  created: datetime({epochMillis: $created[i]}),
  sessionId: $session[i],
  instanceId: $instance[i]
})
RETURN count(m) AS created
