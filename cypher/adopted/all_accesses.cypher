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
  max(CASE WHEN datetime({year: 1}) <= at < datetime({year: 10000}) THEN at END),
  max(CASE WHEN localdatetime({year: 1}) <= at < localdatetime({year: 10000}) THEN at END),
  max(CASE WHEN date({year: 1}) <= at < date({year: 10000}) THEN at END),
  max(CASE WHEN -62135596800000 <= at < 253402300800000 THEN at END),
  max(CASE WHEN at IS :: STRING NOT NULL AND at =~ '\\d{4}-.*' THEN at END)
] AS latest
