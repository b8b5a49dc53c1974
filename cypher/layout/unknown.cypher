// purpose: Count the nodes of a label that neither a layout nor Ebb explains.
// mode: read
// params: $limit: Integer, $rows.own: List
// returns: looked: Integer, nodes: Integer (one row)
// names: :Room, n.mapped
MATCH (n:Room)
WITH n LIMIT $limit
WITH labels(n) AS names, n
RETURN count(*) AS looked,
  count(CASE WHEN NOT any(name IN names WHERE name IN $rows.own OR name STARTS WITH 'Ebb')
      AND n.mapped IS NULL THEN 1 END) AS nodes
