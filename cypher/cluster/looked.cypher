// purpose: Take memories off the list of those that the clusters are to look at, unless they were put there again since.
// mode: write
// params: $id: List, $due: List
// returns: looked: Integer (one row)
// bound: a list of ids
// idempotent: by the instant they were put there
UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {id: $id[i]})
SET m.ebbLock = true
WITH m, i
WHERE m.clusterDue.epochMillis = $due[i]
SET m.clusterDue = null
RETURN count(m) AS looked
