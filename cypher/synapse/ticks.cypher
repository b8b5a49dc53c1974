// purpose: Read the number of outcomes that each of some scopes has learned.
// mode: read
// params: $rows.name: List
// returns: name: String, tick: Integer (a row for each that has a counter)
UNWIND $rows.name AS name
MATCH (c:EbbCounter {name: name})
RETURN name, coalesce(toIntegerOrNull(c.tick), 0) AS tick
