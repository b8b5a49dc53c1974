// purpose: Count the nodes of a label that neither a layout nor Ebb explains.
// mode: read
// params: $limit: Integer, $rows.labels: List, $rows.marks: List, $rows.own: List
// returns: looked: Integer, nodes: Integer (one row)
// names: :Room
MATCH (n:Room)
WITH n LIMIT $limit
WITH labels(n) AS names, n
RETURN count(*) AS looked,
  count(CASE WHEN NOT any(name IN names WHERE name IN $rows.own OR name STARTS WITH 'Ebb')
      AND NOT any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN names AND n[$rows.marks[i]] IS NOT NULL) THEN 1 END) AS nodes
