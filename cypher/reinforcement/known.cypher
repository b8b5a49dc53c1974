// purpose: Say which memories have strengthened which.
// mode: read
// params: $rows.new: List, $rows.old: List
// returns: new: String, old: String (a row for each pair of the list that is drawn)
UNWIND range(0, size($rows.new) - 1) AS i
MATCH (n:Memory {id: $rows.new[i]})-[:REINFORCES]->(o:Memory {id: $rows.old[i]})
RETURN n.id AS new, o.id AS old
