// purpose: Delete rows that a change removes, or that a run created; their relationships were removed before.
// mode: write
// params: $rows.elements: List
// returns: deleted: Integer (one row)
// bound: a list of elements
// idempotent: by what is left
UNWIND $rows.elements AS element
MATCH (n)
WHERE elementId(n) = element
DELETE n
RETURN count(*) AS deleted
