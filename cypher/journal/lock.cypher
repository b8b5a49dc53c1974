// purpose: Lock rows in the order given, before they are compared with a change.
// mode: write
// params: $rows.scopes: List, $rows.keys: List
// returns: locked: Integer (one row)
// bound: a list of keys
// idempotent: by writing nothing but the lock
// names: :Room, n.id, n.lock
UNWIND range(0, size($rows.keys) - 1) AS i
MATCH (n:Room)
USING INDEX SEEK n:Room(scope, id)
WHERE n.id = $rows.keys[i] AND n.scope = $rows.scopes[i]
SET n.lock = true
RETURN count(n) AS locked
