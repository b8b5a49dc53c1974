// purpose: Read the last accesses that a library logged of nodes of a mapped label and scope, by their keys.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $observed: String
// returns: key: String, latest: List (a row for each node that was accessed)
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL
//
// An access is a relationship that ends at the node. Values of several types do not compare: the latest of each type is returned.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
MATCH ()-[r:HALL]->(n)
WITH key, r[$observed] AS at
RETURN key, [
  max(CASE WHEN at IS :: ZONED DATETIME NOT NULL THEN at END),
  max(CASE WHEN at IS :: LOCAL DATETIME NOT NULL THEN at END),
  max(CASE WHEN at IS :: DATE NOT NULL THEN at END),
  max(CASE WHEN at IS :: INTEGER NOT NULL | FLOAT NOT NULL THEN at END),
  max(CASE WHEN at IS :: STRING NOT NULL THEN at END)
] AS latest
