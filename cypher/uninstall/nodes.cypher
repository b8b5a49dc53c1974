// purpose: Remove Ebb's labels and bookkeeping from a page of nodes that are not its own.
// mode: write
// params: $limit: Integer
// returns: rows: Integer (one row)
// bound: $limit
// idempotent: by the labels and properties
//
// The state of a memory stays: tier, energy with its instant, accesses, pins. What goes are the labels, the lock, the
// reasons, and the dates by which jobs find a row. EbbStamped is the label of memories before V010.
// A date of that name on a row of others is theirs.
MATCH (n)
WHERE n:EbbMemory|EbbStamped|EbbFact|EbbEntity|EbbQuarantined OR n.ebbLock IS NOT NULL OR n.ebbReason IS NOT NULL OR n.ebbTrailReason IS NOT NULL
  OR n.ebbMoved IS NOT NULL OR n:Session AND (n.coactivateDue IS NOT NULL OR n.coactivated IS NOT NULL)
WITH n LIMIT $limit
FOREACH (m IN CASE WHEN n:EbbMemory|EbbStamped THEN [n] ELSE [] END |
  REMOVE m.dueAt, m.ripeAt, m.reinforceDue, m.clusterDue, m.embedDue)
FOREACH (s IN CASE WHEN n:Session THEN [n] ELSE [] END |
  REMOVE s.coactivateDue, s.coactivated)
REMOVE n:EbbMemory:EbbStamped:EbbFact:EbbEntity:EbbQuarantined, n.ebbLock, n.ebbReason, n.ebbTrailReason, n.ebbMoved,
  n.ebbEmbeddingModel, n.ebbEmbeddingEnds
RETURN count(*) AS rows
