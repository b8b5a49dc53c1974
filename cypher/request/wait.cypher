// purpose: Leave nodes waiting on a request, to be taught by the learner of their scope, which takes them off again.
// mode: write
// params: $id: String, $scope: String, $reward: Float, $rows.active: List
// returns: waiting: Integer (one row)
// bound: one key
// idempotent: by the unique id
MATCH (r:EbbRequest {id: $id})
SET r.waits = $scope, r.active = $rows.active, r.reward = $reward
RETURN count(r) AS waiting
