// purpose: Read the last accesses that a library logged of all nodes of a mapped label and scope.
// mode: read
// params: $rows.groups: List, $observed: String
// returns: key: String, latest: List (a row for each node that was accessed)
// names: :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL
//
// As adopted/accesses.
MATCH ()-[r:HALL]->(n:Room)
WHERE n.scope IN $rows.groups AND n.mark IS NOT NULL AND n.id IS :: STRING NOT NULL
WITH n.id AS key, r[$observed] AS at
RETURN key, [
  max(CASE WHEN at IS :: ZONED DATETIME NOT NULL THEN at END),
  max(CASE WHEN at IS :: LOCAL DATETIME NOT NULL THEN at END),
  max(CASE WHEN at IS :: DATE NOT NULL THEN at END),
  max(CASE WHEN at IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN at END),
  max(CASE WHEN at IS :: STRING NOT NULL THEN at END)
] AS latest
