// purpose: Read the states that Ebb keeps of rows of other libraries, by their keys.
// mode: read
// params: $scope: String, $kind: String, $rows.keys: List
// returns: key: String, pinned: Boolean, pinnedAt: Integer, hidden: Boolean, accesses: Integer, lastAccess: Integer (a row for each that is there)
UNWIND $rows.keys AS key
MATCH (s:EbbState {scope: $scope, kind: $kind, key: key})
USING INDEX SEEK s:EbbState(scope, kind, key)
RETURN key, s.pinned IS :: BOOLEAN NOT NULL AND s.pinned AS pinned,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= s.pinnedAt < datetime({epochMillis: 253402300800000}) THEN s.pinnedAt.epochMillis END AS pinnedAt,
  s.hidden IS :: BOOLEAN NOT NULL AND s.hidden AS hidden,
  CASE WHEN s.accesses IS :: INTEGER NOT NULL THEN s.accesses ELSE 0 END AS accesses,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= s.lastAccess < datetime({epochMillis: 253402300800000}) THEN s.lastAccess.epochMillis END AS lastAccess
