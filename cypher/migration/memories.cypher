// purpose: Give a page of memories the label that they have since V010.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the label
MATCH (m:EbbStamped)
WITH m LIMIT $limit
SET m:EbbMemory
REMOVE m:EbbStamped
RETURN count(*) AS rows
