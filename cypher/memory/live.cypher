// purpose: Count the live memories of the scopes that these memories belong to.
// mode: read
// params: $rows.id: List
// returns: live: Integer (one row)
UNWIND $rows.id AS id
MATCH (n:Memory {id: id})
WITH collect(DISTINCT n.scope) AS scopes
OPTIONAL MATCH (m:Memory)
WHERE m.tier IN ['working', 'shortTerm', 'longTerm'] AND m.scope IN scopes
RETURN count(m) AS live
