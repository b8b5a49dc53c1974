// purpose: Create places of a label.
// mode: write
// params: $rows.scope: List, $rows.id: List, $rows.name: List
// returns: element: String, id: String, scope: String (a row for each)
// bound: a list of ids
// idempotent: by the unique (scope, id), and by the receipt of its transaction
// names: :Room, n.id
UNWIND range(0, size($rows.id) - 1) AS i
CREATE (n:Room)
SET n.scope = $rows.scope[i], n.name = $rows.name[i], n.id = $rows.id[i]
RETURN elementId(n) AS element, $rows.id[i] AS id, $rows.scope[i] AS scope
