// purpose: Count which properties a sample of the relationships of a type between marked nodes has, and the largest list in each.
// mode: read
// params: $limit: Integer, $rows.properties: List
// returns: property: String, rows: Integer, present: Integer, size: Integer (a row for each property, none without relationships)
// names: :Room, :HALL, n.mapped, m.mapped
MATCH (n:Room)
WHERE n.mapped IS NOT NULL
MATCH (n)-[r:HALL]->(m)
WHERE m.mapped IS NOT NULL
WITH r LIMIT $limit
UNWIND $rows.properties AS property
RETURN property, count(*) AS rows, count(r[property]) AS present,
  max(CASE WHEN r[property] IS :: LIST<ANY> NOT NULL THEN size(r[property]) END) AS size
