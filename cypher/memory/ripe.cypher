// purpose: Tell whether a memory is ripe for promotion.
// mode: read
// params: $now: Integer
// returns: isRipe: Boolean (one row)
//
// The range, from the year 1 on, excludes values that are no instants.
RETURN EXISTS {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(ripeAt)
  WHERE datetime({epochMillis: -62135596800000}) <= m.ripeAt <= datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined
} AS isRipe
