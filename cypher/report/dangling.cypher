// purpose: Count the keys in a list of relationships that no node of a label has.
// mode: read
// params: $property: String, $key: String, $limit: Integer, $examples: Integer
// returns: keys: Integer, references: Integer, examples: List (one row)
// names: :Room, :HALL
//
// Keys of both are grouped together, so neither needs an index.
CALL () {
  MATCH ()-[r:HALL]->()
  WHERE r[$property] IS :: LIST<ANY> NOT NULL
  WITH r LIMIT $limit
  UNWIND r[$property] AS key
  RETURN key, 1 AS uses, 0 AS nodes
  UNION ALL
  MATCH (n:Room)
  RETURN n[$key] AS key, 0 AS uses, 1 AS nodes
}
WITH key, sum(uses) AS uses, sum(nodes) AS nodes
WHERE nodes = 0 AND key IS NOT NULL
RETURN count(*) AS keys, coalesce(sum(uses), 0) AS references, collect(toStringOrNull(key))[0..$examples] AS examples
