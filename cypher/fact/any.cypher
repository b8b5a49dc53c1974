// purpose: Count facts, and those already adopted, from the count store.
// mode: read
// params: none
// returns: facts: Integer, seen: Integer (one row)
CALL () { MATCH (f:Fact) RETURN count(f) AS facts }
CALL () { MATCH (s:EbbFact) RETURN count(s) AS seen }
RETURN facts, seen
