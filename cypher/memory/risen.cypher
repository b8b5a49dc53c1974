// purpose: Say which of these promotions have happened before.
// mode: read
// params: $rows.scope: List, $rows.key: List
// returns: at: Integer (index in $rows.key; a row for each that has)
UNWIND range(0, size($rows.key) - 1) AS i
MATCH (s:Memory {scope: $rows.scope[i], promotionKey: $rows.key[i]})
RETURN i AS at
