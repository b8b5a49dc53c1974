// purpose: Name outcomes that wait to be learned, scope after scope, those of one in the order in which they came.
// mode: read
// params: $after: String, $limit: Integer
// returns: id: String, scope: String, active: List, reward: Float (at most $limit rows)
//
// $after is a scope: those that come behind it are named. What is no list of ids is none, and what is no number is null:
// such an outcome teaches nothing, and counts as one all the same.
MATCH (r:EbbRequest)
USING INDEX r:EbbRequest(waits, at, id)
WHERE r.waits > $after AND r.at IS NOT NULL AND r.id IS NOT NULL AND r.id IS :: STRING
WITH r
ORDER BY r.waits, r.at, r.id
LIMIT $limit
RETURN r.id AS id, r.waits AS scope,
  CASE WHEN r.active IS :: LIST<STRING NOT NULL> NOT NULL THEN r.active ELSE [] END AS active,
  toFloatOrNull(r.reward) AS reward
