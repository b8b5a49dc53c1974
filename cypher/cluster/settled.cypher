// purpose: Remove memories from the backlog of the cluster job, unless they were added again since.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.due: List
// returns: looked: Integer (one row)
// bound: a list of keys
// idempotent: by the instant they were put there
UNWIND range(0, size($rows.id) - 1) AS i
MATCH (m:Memory {scope: $rows.scope[i], id: $rows.id[i]})
USING INDEX SEEK m:Memory(scope, id)
SET m.ebbLock = true
WITH m, i
WHERE CASE WHEN datetime({epochMillis: -62135596800000}) <= m.clusterDue < datetime({epochMillis: 253402300800000}) THEN m.clusterDue.epochMillis END = $rows.due[i]
SET m.clusterDue = null
RETURN count(m) AS looked
