// purpose: Read the weights that a scope has learned since a tick.
// mode: read
// params: $scope: String, $tick: Integer
// returns: source: String, relation: String, target: String, base: Float, delta: Float, perm: Float, strengthened: Integer, weakened: Integer, ltp: Boolean, ltd: Boolean, tick: Integer (a row for each relationship, one way, that changed otherwise than by fading)
//
// A value of a wrong type is null: the reader skips such a row.
MATCH (s:EbbSynapse)
USING INDEX SEEK s:EbbSynapse(scope, tick)
WHERE s.scope = $scope AND s.tick > $tick
RETURN toStringOrNull(s.source) AS source, toStringOrNull(s.relation) AS relation, toStringOrNull(s.target) AS target,
  toFloatOrNull(s.base) AS base, toFloatOrNull(s.delta) AS delta, toFloatOrNull(s.perm) AS perm,
  toIntegerOrNull(s.strengthened) AS strengthened, toIntegerOrNull(s.weakened) AS weakened,
  toBooleanOrNull(s.ltp) AS ltp, toBooleanOrNull(s.ltd) AS ltd, toIntegerOrNull(s.tick) AS tick
