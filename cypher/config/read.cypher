// purpose: Read the tunables from the graph, with null for a value of a wrong type.
// mode: read
// params: none
// returns: names: List, values: List (at most one row)
MATCH (c:ConsolidationConfig {name: 'default'})
WITH c, [key IN keys(c) WHERE key <> 'name'] AS names
RETURN names,
  [key IN names | CASE WHEN c[key] IS :: FLOAT OR c[key] IS :: INTEGER THEN toFloat(c[key]) END] AS values
