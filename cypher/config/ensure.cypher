// purpose: Ensure that the tunables are in the graph, and keep existing values.
// mode: write
// params: $rows.name: List, $rows.value: List
// returns: added: Integer (one row)
// bound: one key
// idempotent: by the unique name
//
// A node that another writer created as documented, without a name, gets the name and the missing values.
CALL () {
  OPTIONAL MATCH (named:ConsolidationConfig {name: 'default'})
  OPTIONAL MATCH (unnamed:ConsolidationConfig)
  WHERE unnamed.name IS NULL
  WITH named, unnamed LIMIT 1
  FOREACH (c IN CASE WHEN named IS NULL AND unnamed IS NOT NULL THEN [unnamed] ELSE [] END | SET c.name = 'default')
}
MERGE (c:ConsolidationConfig {name: 'default'})
WITH c, [i IN range(0, size($rows.name) - 1) WHERE c[$rows.name[i]] IS NULL] AS missing
FOREACH (i IN missing | SET c[$rows.name[i]] = $rows.value[i])
RETURN size(missing) AS added
