// purpose: Create rows that a change creates, or that a run removed.
// mode: write
// params: $rows.properties: List
// returns: row: Integer (index in $rows.properties), element: String (a row for each)
// bound: a list of rows
// idempotent: by the unique key of each
// names: :Room
UNWIND range(0, size($rows.properties) - 1) AS i
CREATE (n:Room)
SET n = $rows.properties[i]
RETURN i AS row, elementId(n) AS element
