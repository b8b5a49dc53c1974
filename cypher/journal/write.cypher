// purpose: Write properties, and the mark of quarantine, of rows that this transaction has locked and compared.
// mode: write
// params: $rows.elements: List, $rows.properties: List, $rows.quarantined: List
// returns: written: Integer (one row)
// bound: a list of elements
// idempotent: by its values
//
// $rows.properties are maps, with null for a property that is removed; $rows.quarantined is null for a row whose mark stays.
UNWIND range(0, size($rows.elements) - 1) AS i
MATCH (n)
WHERE elementId(n) = $rows.elements[i]
SET n += $rows.properties[i]
FOREACH (_ IN CASE WHEN $rows.quarantined[i] = true THEN [1] ELSE [] END | SET n:EbbQuarantined)
FOREACH (_ IN CASE WHEN $rows.quarantined[i] = false THEN [1] ELSE [] END | REMOVE n:EbbQuarantined)
RETURN count(n) AS written
