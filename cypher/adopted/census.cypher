// purpose: List those of some nodes of a mapped label and scope that may be mirrored, with the values by which they are selected.
// mode: read
// params: $rows.numbers: List, $rows.groups: List, $rows.observed: List, $rows.text: List, $rows.live: List, $status: String
// returns: key: String, element: String, observed: List, bytes: Integer, degree: Integer (a row for each, in no order)
// names: :Room, n.id, n.mark IS NOT NULL, n.scope IN $rows.groups
//
// The rows are of another library and have values of any type. Instants are returned as they are. Keys need not be unique:
// the reader keeps one row of each. They are read by pages of their numbers (adopted/numbers), so that no transaction is long.
UNWIND $rows.numbers AS number
MATCH (n:Room)
WHERE id(n) = number AND n.scope IN $rows.groups AND n.mark IS NOT NULL AND n.id IS :: STRING NOT NULL
  AND ($status IS NULL OR n[$status] IN $rows.live)
RETURN n.id AS key, elementId(n) AS element, [name IN $rows.observed | n[name]] AS observed,
  reduce(chars = size(n.id), name IN $rows.text | chars + CASE
    WHEN n[name] IS :: STRING NOT NULL THEN size(n[name])
    WHEN n[name] IS :: LIST<STRING NOT NULL> NOT NULL THEN reduce(sum = 0, text IN n[name] | sum + size(text))
    ELSE 0
  END) AS bytes,
  COUNT { (n)--() } AS degree
