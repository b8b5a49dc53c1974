// purpose: Remove claims, and count a conflict for an attempt that loses one to an earlier attempt.
// mode: write
// params: $rows.mark: List, $conflict: Boolean
// returns: removed: Integer (one row)
// bound: a list of element ids
// idempotent: by the claim being gone
UNWIND $rows.mark AS mark
MATCH ()-[c:CONSOLIDATING]->(a)
WHERE elementId(c) = mark
FOREACH (_ IN CASE WHEN $conflict THEN [1] ELSE [] END | SET a.conflicts = CASE WHEN 0 <= a.conflicts <= 1000000000000 THEN toInteger(a.conflicts) ELSE 0 END + 1)
DELETE c
RETURN count(c) AS removed
