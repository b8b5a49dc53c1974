// purpose: Read the learned weights of the directed relationships that begin at nodes.
// mode: read
// params: $scope: String, $rows.id: List
// returns: source: String, relation: String, target: String, base: Float, delta: Float, perm: Float, strengthened: Integer, weakened: Integer, ltp: Boolean, ltd: Boolean, tick: Integer (a row for each that ever learned)
//
// A value of a wrong type is null: the reader skips such a row.
UNWIND $rows.id AS id
MATCH (s:EbbSynapse)
USING INDEX SEEK s:EbbSynapse(scope, source)
WHERE s.scope = $scope AND s.source = id
RETURN toStringOrNull(s.source) AS source, toStringOrNull(s.relation) AS relation, toStringOrNull(s.target) AS target,
  toFloatOrNull(s.base) AS base, toFloatOrNull(s.delta) AS delta, toFloatOrNull(s.perm) AS perm,
  toIntegerOrNull(s.strengthened) AS strengthened, toIntegerOrNull(s.weakened) AS weakened,
  toBooleanOrNull(s.ltp) AS ltp, toBooleanOrNull(s.ltd) AS ltd, toIntegerOrNull(s.tick) AS tick
