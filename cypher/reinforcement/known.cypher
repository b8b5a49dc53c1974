// purpose: Say which memories have strengthened which.
// mode: read
// params: $new: List, $old: List
// returns: new: String, old: String (a row for each pair of the list that is drawn)
UNWIND range(0, size($new) - 1) AS i
MATCH (n:Memory {id: $new[i]})-[:REINFORCES]->(o:Memory {id: $old[i]})
RETURN n.id AS new, o.id AS old
