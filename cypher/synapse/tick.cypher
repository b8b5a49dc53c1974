// purpose: Read the number of outcomes that a scope has learned.
// mode: read
// params: $name: String
// returns: tick: Integer (one row; none before the first)
MATCH (c:EbbCounter {name: $name})
RETURN coalesce(toIntegerOrNull(c.tick), 0) AS tick
