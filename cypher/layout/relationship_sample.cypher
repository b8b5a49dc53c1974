// purpose: Count which properties a sample of the relationships of a type between marked nodes has, and the largest list in each.
// mode: read
// params: $limit: Integer, $rows.labels: List, $rows.marks: List, $rows.properties: List
// returns: property: String, rows: Integer, present: Integer, size: Integer (a row for each property, none without relationships)
// names: :Room, :HALL
MATCH (n:Room)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(n) AND n[$rows.marks[i]] IS NOT NULL)
MATCH (n)-[r:HALL]->(m)
WHERE any(i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(m) AND m[$rows.marks[i]] IS NOT NULL)
WITH r LIMIT $limit
UNWIND $rows.properties AS property
RETURN property, count(*) AS rows, count(r[property]) AS present,
  max(CASE WHEN r[property] IS :: LIST<ANY> NOT NULL THEN size(r[property]) END) AS size
