// purpose: Read the inputs of a run: tunables, counts of all and of adopted memories, any attempts or claims.
// mode: read
// params: none
// returns: names: List, values: List, memories: Integer, stamped: Integer, attempts: Boolean (names null without tunables; one row)
//
// One statement, since the cost of an idle run is little more than its requests. The tunables are as in config/read;
// memories and stamped come from the count store.
OPTIONAL MATCH (c:ConsolidationConfig {name: 'default'})
WITH c, [key IN keys(c) WHERE key <> 'name'] AS names
CALL () { MATCH (m:Memory) RETURN count(m) AS memories }
CALL () { MATCH (s:EbbStamped) RETURN count(s) AS stamped }
RETURN names, [key IN names | CASE WHEN c[key] IS :: FLOAT OR c[key] IS :: INTEGER THEN toFloat(c[key]) END] AS values,
  memories, stamped,
  EXISTS { ()-[:CONSOLIDATING]->() }
    OR EXISTS { MATCH (a:ConsolidationAttempt) WHERE a.state IN ['planned', 'claimed'] } AS attempts
