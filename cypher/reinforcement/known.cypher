// purpose: Check which memories have reinforced which.
// mode: read
// params: $rows.scope: List, $rows.new: List, $rows.old: List
// returns: at: Integer (index in $rows.new; a row for each pair of the list that is drawn)
UNWIND range(0, size($rows.new) - 1) AS i
MATCH (n:Memory {scope: $rows.scope[i], id: $rows.new[i]})-[:REINFORCES]->(o:Memory {scope: $rows.scope[i], id: $rows.old[i]})
USING INDEX SEEK n:Memory(scope, id)
RETURN DISTINCT i AS at
