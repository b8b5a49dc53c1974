// purpose: Write the computed values of locked relations.
// mode: write
// params: $rows.key: List, $rows.base: List, $rows.weightAt: List, $rows.lastObserved: List, $rows.pinned: List
// returns: nothing
// bound: a list of keys
// idempotent: by the receipt of its transaction
//
// A quarantined relation becomes valid again: every value that a law reads is written.
UNWIND range(0, size($rows.key) - 1) AS i
MATCH ()-[r:RELATES_TO {ebbKey: $rows.key[i]}]->()
USING INDEX SEEK r:RELATES_TO(ebbKey)
SET r.weight = $rows.base[i],
  r.baseWeight = $rows.base[i],
  r.weightAt = datetime({epochMillis: $rows.weightAt[i]}),
  r.lastObserved = datetime({epochMillis: $rows.lastObserved[i]}),
  r.pinned = $rows.pinned[i],
  r.ebbReason = null
