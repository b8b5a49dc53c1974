// purpose: Lock sessions in the order given and list the memories that count in each, and which are already counted.
// mode: write
// params: $rows.scope: List, $rows.id: List, $most: Integer
// returns: session: Integer (index in $rows.id), memory: List, at: List, counted: List, all: Integer (a row for each session that waits)
// bound: a list of keys
// idempotent: by writing nothing but the lock
//
// A memory counts once in a session, however many accesses another writer created, and is counted if any of them is.
// The most recent come first, $most of them; all is the number of accesses of the session.
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (s:Session {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK s:Session(scope, id)
SET s.ebbLock = true
WITH i, s
WHERE s.coactivateDue IS NOT NULL
CALL (s) {
  MATCH (s)<-[a:ACCESSED_IN]-(m:Memory)
  WHERE valueType(m.id) = 'STRING NOT NULL' AND m.scope = s.scope AND m:EbbMemory AND NOT m:EbbQuarantined
    AND NOT coalesce(m.tier, 'working') IN ['archivedWorking', 'archivedShortTerm']
  WITH m.id AS id,
    max(CASE WHEN datetime({epochMillis: -62135596800000}) <= a.at < datetime({epochMillis: 253402300800000}) THEN a.at.epochMillis ELSE -62135596800000 END) AS at,
    max(CASE WHEN a.counted = true THEN 1 ELSE 0 END) = 1 AS counted
  ORDER BY at DESC, id
  LIMIT $most
  RETURN collect(id) AS memory, collect(at) AS at, collect(counted) AS counted
}
RETURN i AS session, memory, at, counted, COUNT { (s)<-[:ACCESSED_IN]-() } AS all
