// purpose: Read the inputs of a run: tunables, counts of all, of adopted and of foreign memories, any attempts or claims.
// mode: read
// params: none
// returns: names: List, values: List, rows: Integer, adopted: Integer, foreign: Integer, attempts: Boolean (names null without tunables; one row)
//
// One statement, since the cost of an idle run is little more than its requests. The tunables are as in config/read;
// rows, adopted and foreign are as in memory/adoption.
OPTIONAL MATCH (c:ConsolidationConfig {name: 'default'})
WITH c, [key IN keys(c) WHERE key <> 'name'] AS names
CALL () { MATCH (m:Memory) RETURN count(m) AS rows }
CALL () { MATCH (s:EbbMemory) RETURN count(s) AS adopted }
OPTIONAL MATCH (f:EbbCounter {name: 'foreign:Memory'})
RETURN names, [key IN names | CASE WHEN c[key] IS :: FLOAT OR c[key] IS :: INTEGER THEN toFloat(c[key]) END] AS values,
  rows, adopted, CASE WHEN 0 <= f.rows <= 1000000000000 THEN toInteger(f.rows) ELSE 0 END AS foreign,
  EXISTS { ()-[:CONSOLIDATING]->() }
    OR EXISTS { MATCH (a:ConsolidationAttempt) WHERE a.state IN ['planned', 'claimed'] } AS attempts
