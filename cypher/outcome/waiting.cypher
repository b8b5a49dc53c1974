// purpose: List outcomes that wait to be learned, by scope, and within a scope in the order of arrival.
// mode: read
// params: $after: String, $limit: Integer
// returns: id: String, scope: String, active: List, reward: Float (at most $limit rows)
//
// $after is a scope: the scopes after it are listed. A list of ids of a wrong type counts as empty, and a number of a
// wrong type is null: such an outcome teaches nothing, but still counts as an outcome.
MATCH (r:EbbRequest)
USING INDEX SEEK r:EbbRequest(waits, at, id)
WHERE r.waits > $after AND r.at IS NOT NULL AND r.id IS NOT NULL AND r.id IS :: STRING
WITH r
ORDER BY r.waits, r.at, r.id
LIMIT $limit
RETURN r.id AS id, r.waits AS scope,
  CASE WHEN r.active IS :: LIST<STRING NOT NULL> NOT NULL THEN r.active ELSE [] END AS active,
  toFloatOrNull(r.reward) AS reward
