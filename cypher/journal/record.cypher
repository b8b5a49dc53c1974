// purpose: Record entries of a run, to show and to take back what it did.
// mode: write
// params: $run: String, $job: String, $at: Integer, $by: String, $part: Integer, $changes: Integer, $rows.entries: List
// returns: nothing
// bound: one node
// idempotent: by the receipt of its transaction
// clock: server
//
// An entry is JSON. $part orders the nodes of a transaction.
CREATE (j:EbbJournal {
  run: $run,
  job: $job,
  at: datetime({epochMillis: $at}),
  recorded: datetime.realtime(),
  by: $by,
  part: $part,
  changes: $changes,
  entries: $rows.entries
})
