// purpose: List the marked nodes of several labels with the most relationships.
// mode: read
// params: $limit: Integer, $top: Integer, $rows.labels: List, $rows.properties: List
// returns: id: String, name: String, degree: Integer (a row for each)
// names: :Room, n.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
WITH n LIMIT $limit
WITH n, COUNT { (n)--() } AS degree
WHERE degree > 0
WITH n, degree ORDER BY degree DESC, elementId(n) LIMIT $top
RETURN elementId(n) AS id, degree,
  coalesce(head([name IN $rows.labels WHERE name IN labels(n)]), head(labels(n)), '') + ' ' + coalesce(left(toStringOrNull(head([property IN $rows.properties WHERE n[property] IS NOT NULL | n[property]])), 60), elementId(n)) AS name
