// purpose: Count the nodes and relationships that a backup contains, and the relationships between them and other nodes.
// mode: read
// params: $rows.own: List, $rows.scoped: List
// returns: nodes: Integer, relationships: Integer, outward: Integer (one row)
//
// A node is in it by a label of $rows.own, or by one of $rows.scoped and a scope. Scans the whole graph.
CALL () {
  MATCH (n)
  WHERE any(label IN labels(n) WHERE label IN $rows.own) OR n.scope IS NOT NULL AND any(label IN labels(n) WHERE label IN $rows.scoped)
  RETURN count(n) AS nodes
}
CALL () {
  MATCH (a)-[r]->(b)
  WITH any(label IN labels(a) WHERE label IN $rows.own) OR a.scope IS NOT NULL AND any(label IN labels(a) WHERE label IN $rows.scoped) AS from,
    any(label IN labels(b) WHERE label IN $rows.own) OR b.scope IS NOT NULL AND any(label IN labels(b) WHERE label IN $rows.scoped) AS to
  RETURN sum(CASE WHEN from AND to THEN 1 ELSE 0 END) AS relationships, sum(CASE WHEN from <> to THEN 1 ELSE 0 END) AS outward
}
RETURN nodes, relationships, outward
