// purpose: Say which entities memories mention, once for each pair.
// mode: write
// params: $scope: List, $id: List, $name: List
// returns: mentioned: Integer (one row)
// bound: a list of pairs
// idempotent: by MERGE of the pair
UNWIND range(0, size($id) - 1) AS i
MATCH (m:Memory {id: $id[i]})
MATCH (e:Entity {scope: $scope[i], name: $name[i]})
MERGE (m)-[:MENTIONS]->(e)
RETURN count(*) AS mentioned
