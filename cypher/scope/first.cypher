// purpose: Find the first scope, from one on, with rows of a label.
// mode: read
// params: $from: String, $label: String, $rows.own: List
// returns: scope: String (at most one row)
// names: :Room, n.id, n.scope
//
// A row counts under the first label of $rows.own that it has, so that one with several counts once.
MATCH (n:Room)
WHERE n.scope >= $from AND n.id IS NOT NULL AND [label IN $rows.own WHERE label IN labels(n)][0] = $label
RETURN n.scope AS scope
ORDER BY scope
LIMIT 1
