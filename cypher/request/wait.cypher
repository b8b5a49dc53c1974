// purpose: Queue an outcome on a request for the learner of its scope, which removes it.
// mode: write
// params: $id: String, $scope: String, $reward: Float, $rows.active: List
// returns: waiting: Integer (one row)
// bound: one key
// idempotent: by the unique id
MATCH (r:EbbRequest {id: $id})
SET r.waits = $scope, r.active = $rows.active, r.reward = $reward
RETURN count(r) AS waiting
