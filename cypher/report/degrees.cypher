// purpose: Count the marked nodes of several labels, their outgoing relationships, and those without any relationship.
// mode: read
// params: $limit: Integer, $examples: Integer, $rows.labels: List, $rows.properties: List
// returns: nodes: Integer, outgoing: Integer, orphans: Integer, examples: List (one row)
// names: :Room, n.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
WITH n LIMIT $limit
WITH n, COUNT { (n)--() } AS degree, COUNT { (n)-->() } AS outgoing
WITH CASE WHEN degree = 0 THEN n END AS orphan, outgoing
RETURN count(*) AS nodes, coalesce(sum(outgoing), 0) AS outgoing, count(orphan) AS orphans,
  [node IN collect(orphan)[0..$examples] |
    coalesce(head([name IN $rows.labels WHERE name IN labels(node)]), head(labels(node)), '') + ' ' + coalesce(left(toStringOrNull(head([property IN $rows.properties WHERE node[property] IS NOT NULL | node[property]])), 60), elementId(node))] AS examples
