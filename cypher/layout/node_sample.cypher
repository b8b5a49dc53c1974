// purpose: Count which properties a sample of the marked nodes of a label has, and the largest list in each.
// mode: read
// params: $limit: Integer, $rows.properties: List
// returns: property: String, rows: Integer, present: Integer, size: Integer (a row for each property, none without nodes)
// names: :Room, n.mark IS NOT NULL
MATCH (n:Room)
WHERE n.mark IS NOT NULL
WITH n LIMIT $limit
UNWIND $rows.properties AS property
RETURN property, count(*) AS rows, count(n[property]) AS present,
  max(CASE WHEN n[property] IS :: LIST<ANY> NOT NULL THEN size(n[property]) END) AS size
