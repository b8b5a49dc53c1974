// purpose: List the scopes without facts, of which there are none while facts of other writers wait to be adopted.
// mode: read
// params: $rows.scope: List
// returns: scope: String (a row for each)
CALL () { MATCH (f:Fact) RETURN count(f) AS facts }
CALL () { MATCH (s:EbbFact) RETURN count(s) AS seen }
UNWIND $rows.scope AS scope
WITH scope
WHERE facts = seen AND NOT EXISTS { MATCH (l:EbbLineage) USING INDEX SEEK l:EbbLineage(scope, key) WHERE l.scope = scope AND l.key > '' }
RETURN scope
