// purpose: End a page of a deletion with the numbers of rows deleted so far, by label.
// mode: write
// params: $scope: String, $rows.labels: List, $rows.counts: List, $emptied: Integer
// returns: receipts: Integer (one row)
// bound: one key
// idempotent: by its values
MATCH (e:EbbErasure {open: $scope})
USING INDEX SEEK e:EbbErasure(open)
SET e.labels = $rows.labels, e.counts = $rows.counts, e.emptied = $emptied
RETURN count(e) AS receipts
