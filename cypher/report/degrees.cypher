// purpose: Count the marked nodes of several labels, their outgoing relationships, and those without any relationship.
// mode: read
// params: $limit: Integer, $examples: Integer, $rows.labels: List, $rows.marks: List, $rows.properties: List
// returns: nodes: Integer, outgoing: Integer, orphans: Integer, examples: List (one row)
// names: :Room
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
WITH n LIMIT $limit
WITH n, COUNT { (n)--() } AS degree, COUNT { (n)-->() } AS outgoing
WITH CASE WHEN degree = 0 THEN n END AS orphan, outgoing
RETURN count(*) AS nodes, coalesce(sum(outgoing), 0) AS outgoing, count(orphan) AS orphans,
  [node IN collect(orphan)[0..$examples] |
    head([name IN $rows.labels WHERE name IN labels(node)]) + ' ' + coalesce(left(toStringOrNull(head([property IN $rows.properties WHERE node[property] IS NOT NULL | node[property]])), 60), elementId(node))] AS examples
