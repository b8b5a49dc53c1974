// purpose: Change the states that Ebb keeps of rows of other libraries; a row without a state gets one.
// mode: write
// params: $scope: String, $rows.kinds: List, $rows.keys: List, $pinned: Boolean, $hidden: Boolean, $accesses: Integer, $at: Integer
// returns: set: Integer (one row)
// bound: the list
// idempotent: by the receipt of its transaction
//
// A null leaves a value as it is. A pinned row keeps its weight of the instant at which it was pinned. An access never moves the last one back.
UNWIND range(0, size($rows.keys) - 1) AS i
MERGE (s:EbbState {scope: $scope, kind: $rows.kinds[i], key: $rows.keys[i]})
SET s.pinnedAt = CASE WHEN $pinned AND NOT coalesce(s.pinned = true, false) THEN datetime({epochMillis: $at}) ELSE s.pinnedAt END,
  s.pinned = coalesce($pinned, s.pinned), s.hidden = coalesce($hidden, s.hidden),
  s.accesses = CASE WHEN s.accesses IS :: INTEGER NOT NULL THEN s.accesses ELSE 0 END + $accesses,
  s.lastAccess = CASE
    WHEN $accesses = 0 THEN s.lastAccess
    WHEN s.lastAccess > datetime({epochMillis: $at}) THEN s.lastAccess
    ELSE datetime({epochMillis: $at})
  END
RETURN count(*) AS set
