// purpose: Count the keys that several marked nodes of a label have in one scope.
// mode: read
// params: $key: String, $limit: Integer, $examples: Integer
// returns: keys: Integer, rows: Integer, examples: List (one row)
// names: :Room, n.mark IS NOT NULL, [n.scope]
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
UNWIND [n.scope] AS scope
WITH n[$key] AS key, scope, count(*) AS rows
WHERE key IS NOT NULL AND rows > 1
RETURN count(*) AS keys, coalesce(sum(rows), 0) AS rows, collect(toStringOrNull(key))[0..$examples] AS examples
