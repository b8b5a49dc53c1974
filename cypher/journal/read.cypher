// purpose: Read rows with labels, properties and the relationships that begin at them, as a change finds or leaves them.
// mode: read
// params: $rows.scopes: List, $rows.keys: List
// returns: row: Integer (index in $rows.keys), element: String, labels: List, properties: Map, edges: List, degree: Integer, claimed: Boolean (a row for each that is there)
// names: :Room, n.id, :HALL
//
// The values of properties that may be long and are written by no job with a journal are empty. An edge is [type, element of
// its end, scope and key of its end, properties]. The key of an end of ABOUT is the name of an entity of Ebb's in the scope, and
// null of any other node: an element id does not outlast a backup and its restore.
UNWIND range(0, size($rows.keys) - 1) AS i
MATCH (n:Room)
USING INDEX SEEK n:Room(scope, id)
WHERE n.id = $rows.keys[i] AND n.scope = $rows.scopes[i]
RETURN i AS row, elementId(n) AS element, labels(n) AS labels,
  n {
    .*,
    content: CASE WHEN n.content IS NOT NULL THEN '' END,
    embedding: CASE WHEN n.embedding IS NOT NULL THEN '' END,
    tags: CASE WHEN n.tags IS NOT NULL THEN '' END
  } AS properties,
  [
    (n)-[r:HALL]->(b) |
    [
      type(r),
      elementId(b),
      b.scope,
      CASE WHEN type(r) <> 'ABOUT' THEN b.id WHEN b:EbbEntity AND b.scope = n.scope THEN b.name END,
      properties(r)
    ]
  ] AS edges,
  COUNT { (n)--() } AS degree,
  EXISTS {
    MATCH (n)-[:CONSOLIDATING]->(a:ConsolidationAttempt)
    WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false)
  } AS claimed
