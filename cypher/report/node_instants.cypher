// purpose: List the instants from which many marked nodes of a label are no longer live.
// mode: read
// params: $limit: Integer, $least: Integer, $examples: Integer, $rows.until: List
// returns: instant: String, rows: Integer (a row for each, the most first)
// names: :Room, n.mark IS NOT NULL
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
UNWIND $rows.until AS name
WITH n[name] AS at, count(*) AS rows
WHERE at IS NOT NULL AND rows >= $least
RETURN toStringOrNull(at) AS instant, rows
ORDER BY rows DESC LIMIT $examples
