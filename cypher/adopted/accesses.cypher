// purpose: Read the last accesses that a library logged of nodes of a mapped label and scope, by their keys.
// mode: read
// params: $rows.keys: List, $rows.groups: List, $observed: String
// returns: key: String, latest: List (a row for each node that was accessed)
// names: UNWIND $rows.keys AS key, :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL
//
// An access is a relationship that ends at the node. Values of several types do not compare: the latest of each type is
// returned, without those that are no instant, which would hide the others.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.id = key AND n.scope IN $rows.groups AND n.mark IS NOT NULL
MATCH ()-[r:HALL]->(n)
WITH key, r[$observed] AS at
RETURN key, [
  max(CASE WHEN datetime({year: 1}) <= at < datetime({year: 10000}) THEN at END),
  max(CASE WHEN localdatetime({year: 1}) <= at < localdatetime({year: 10000}) THEN at END),
  max(CASE WHEN date({year: 1}) <= at < date({year: 10000}) THEN at END),
  max(CASE WHEN -62135596800000 <= at < 253402300800000 THEN at END),
  max(CASE WHEN at IS :: STRING NOT NULL AND at =~ '\\d{4}-.*' THEN at END)
] AS latest
