// purpose: Count the nodes and relationships of a range that a backup contains, and the relationships between them and other nodes.
// mode: read
// params: $first: Integer, $last: Integer, $rows.own: List, $rows.scoped: List
// returns: nodes: Integer, relationships: Integer, outward: Integer (one row)
//
// A node is in it by a label of $rows.own, or by one of $rows.scoped and a scope. A relationship counts where it begins.
// Numbers are unwound, since a list of them is sought by a scan where the plan was made for an empty database.
UNWIND range($first, $last) AS number
MATCH (a)
WHERE id(a) = number
WITH a, any(label IN labels(a) WHERE label IN $rows.own) OR a.scope IS NOT NULL AND any(label IN labels(a) WHERE label IN $rows.scoped) AS inside
WITH inside, COUNT { (a)-->() } AS all, COUNT {
    MATCH (a)-->(b)
    WHERE any(label IN labels(b) WHERE label IN $rows.own) OR b.scope IS NOT NULL AND any(label IN labels(b) WHERE label IN $rows.scoped)
  } AS inward
RETURN sum(CASE WHEN inside THEN 1 ELSE 0 END) AS nodes,
  sum(CASE WHEN inside THEN inward ELSE 0 END) AS relationships,
  sum(CASE WHEN inside THEN all - inward ELSE inward END) AS outward
