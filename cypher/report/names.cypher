// purpose: Count the names that several marked nodes of a label have in one scope, whatever their case and outer spaces.
// mode: read
// params: $property: String, $limit: Integer, $examples: Integer, $rows.until: List
// returns: names: Integer, nodes: Integer, examples: List (one row)
// names: :Room, n.mark IS NOT NULL, [n.scope]
//
// Nodes that were merged into another, or ended otherwise, are left out.
MATCH (n:Room)
WHERE n.mark IS NOT NULL AND NOT any(name IN $rows.until WHERE n[name] IS NOT NULL)
WITH n LIMIT $limit
UNWIND [n.scope] AS scope
WITH toLower(trim(toStringOrNull(n[$property]))) AS name, coalesce(toStringOrNull(scope), '') AS scope, count(*) AS nodes
WHERE name <> '' AND nodes > 1
WITH name, nodes ORDER BY nodes DESC, name
RETURN count(*) AS names, coalesce(sum(nodes), 0) AS nodes, collect(name + ' (' + nodes + ')')[0..$examples] AS examples
