// purpose: Create nodes of a backup, each marked with its name in the backup.
// mode: write
// params: $rows.name: List, $rows.labels: List, $rows.values: List
// returns: created: Integer (one row)
// bound: a list of rows
// idempotent: by the receipt of its transaction
UNWIND range(0, size($rows.name) - 1) AS i
CREATE (n:EbbRestored)
SET n = $rows.values[i], n.ebbRestored = $rows.name[i], n:$($rows.labels[i])
RETURN count(n) AS created
