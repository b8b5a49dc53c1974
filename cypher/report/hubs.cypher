// purpose: List the marked nodes of several labels with the most relationships.
// mode: read
// params: $limit: Integer, $top: Integer, $rows.labels: List, $rows.marks: List, $rows.properties: List
// returns: id: String, name: String, degree: Integer (a row for each)
// names: :Room
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
WITH n LIMIT $limit
WITH n, COUNT { (n)--() } AS degree
WHERE degree > 0
WITH n, degree ORDER BY degree DESC, elementId(n) LIMIT $top
RETURN elementId(n) AS id, degree,
  head([name IN $rows.labels WHERE name IN labels(n)]) + ' ' + coalesce(left(toStringOrNull(head([property IN $rows.properties WHERE n[property] IS NOT NULL | n[property]])), 60), elementId(n)) AS name
