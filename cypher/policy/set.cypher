// purpose: Write a policy at its existing position, or after the last.
// mode: write
// params: $id: String, $relation: String, $scope: String, $mode: String, $ttl: Float, $halfLife: Float, $minConfidence: Float, $rows.exempt: List
// returns: place: Integer (one row)
// bound: one key
// idempotent: by the unique id
CALL () { MATCH (other:EbbPolicy) RETURN coalesce(max(other.place), 0) + 1 AS next }
MERGE (p:EbbPolicy {id: $id})
ON CREATE SET p.place = next
SET p.relation = $relation, p.scope = $scope, p.mode = $mode, p.ttlS = $ttl, p.halfLifeS = $halfLife,
  p.minConfidence = $minConfidence, p.exemptRelations = $rows.exempt
RETURN p.place AS place
