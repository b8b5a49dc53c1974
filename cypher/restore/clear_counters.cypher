// purpose: Delete the counters that a batch of the export of a scope contains: all others are of the database.
// mode: write
// params: $rows.name: List
// returns: rows: Integer (one row)
// bound: a list of names
// idempotent: by their absence
UNWIND $rows.name AS name
MATCH (c:EbbCounter {name: name})
USING INDEX SEEK c:EbbCounter(name)
DETACH DELETE c
RETURN count(*) AS rows
