// purpose: Remove tombstones of memories that were forgotten long enough ago; an old file would restore those.
// mode: write
// params: $before: Integer, $limit: Integer
// returns: trimmed: Integer (one row)
// bound: $limit rows
// idempotent: by what is left
//
// Scans all tombstones.
MATCH (t:EbbTombstone)
WHERE t.at < datetime({epochMillis: $before})
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS trimmed
