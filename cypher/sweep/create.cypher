// purpose: Record a requested sweep, with the parameters that its worker reads.
// mode: write
// params: $id: String, $scope: String, $mode: String, $policy: String, $accepted: Integer, $now: Integer, $heads: Integer
// returns: id: String (one row)
// bound: one key
// idempotent: by the unique id
CREATE (j:EbbSweepJob {
  id: $id, scope: $scope, mode: $mode, policy: $policy, accepted: $accepted, now: datetime({epochMillis: $now}),
  heads: $heads, state: 'pending', cursor: '',
  live: 0, evaluated: 0, retracted: 0, reduced: 0, wouldRetract: 0, wouldReduce: 0, matched: []
})
RETURN j.id AS id
