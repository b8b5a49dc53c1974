// purpose: Check which of these promotions have happened before, and for which of them the id of the stub exists.
// mode: read
// params: $rows.scope: List, $rows.key: List, $rows.stub: List
// returns: at: Integer (index in $rows.key), risen: Boolean, taken: Boolean (a row for each)
UNWIND range(0, size($rows.key) - 1) AS i
OPTIONAL MATCH (s:Memory {scope: $rows.scope[i], promotionKey: $rows.key[i]})
USING INDEX SEEK s:Memory(scope, promotionKey)
OPTIONAL MATCH (o:Memory {scope: $rows.scope[i], id: $rows.stub[i]})
USING INDEX SEEK o:Memory(scope, id)
RETURN i AS at, s IS NOT NULL AS risen, o IS NOT NULL AS taken
