// purpose: Read rows with labels, properties and the relationships that begin at them, as a change finds or leaves them.
// mode: read
// params: $rows.scopes: List, $rows.keys: List, $rows.long: List
// returns: row: Integer (index in $rows.keys), element: String, labels: List, properties: List, edges: List, degree: Integer, claimed: Boolean (a row for each that is there)
// names: :Room, n.id, :HALL
//
// A property is [name, value], the value empty for the names $rows.long and for a vector. An edge is [type, element of its end,
// scope and id of its end, properties].
UNWIND range(0, size($rows.keys) - 1) AS i
MATCH (n:Room)
WHERE n.id = $rows.keys[i] AND n.scope = $rows.scopes[i]
RETURN i AS row, elementId(n) AS element, labels(n) AS labels,
  [name IN keys(n) | [name, CASE WHEN name IN $rows.long OR n[name] IS :: LIST<FLOAT NOT NULL> NOT NULL THEN '' ELSE n[name] END]] AS properties,
  [(n)-[r:HALL]->(b) | [type(r), elementId(b), b.scope, b.id, [name IN keys(r) | [name, r[name]]]]] AS edges,
  COUNT { (n)--() } AS degree,
  EXISTS {
    MATCH (n)-[:CONSOLIDATING]->(a:ConsolidationAttempt)
    WHERE NOT coalesce(a.state IN ['done', 'aborted', 'expired'], false)
  } AS claimed
