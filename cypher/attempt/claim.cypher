// purpose: Mark ripe memories as claimed by an attempt, after locking and checking each.
// mode: write
// params: $id: String, $holder: String, $now: Integer, $limit: Integer, $leaseMs: Integer
// returns: claimed: Integer, passedOver: Integer (one row; none if the attempt is over)
// bound: $limit
// idempotent: by the mark: a memory under a live attempt is passed over
// clock: server
//
// Ripe memories come in the order (ripeAt, id). A memory that cannot be promoted (it was pinned, or its tier was
// changed) or that another live attempt holds is skipped and the page continues with the next, so the claim is full
// while there is anything to claim. passedOver counts memories lost while waiting for their locks: the caller requests
// that many again. A memory whose ripeAt another transaction moves is at two places of the index for a moment, hence the
// DISTINCT.
MATCH (a:ConsolidationAttempt {id: $id})
USING INDEX SEEK a:ConsolidationAttempt(id)
SET a.lock = true
WITH a
WHERE a.state IN ['planned', 'claimed'] AND a.holder = $holder
CALL (a) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(ripeAt)
  WHERE m.ripeAt <= datetime({epochMillis: $now}) AND m:EbbMemory AND NOT m:EbbQuarantined AND m.scope IS :: STRING NOT NULL AND m.id IS :: STRING NOT NULL
    AND m.tier IN ['working', 'shortTerm'] AND coalesce(m.pinned, false) = false
    AND NOT EXISTS {
      MATCH (m)-[:CONSOLIDATING]->(b:ConsolidationAttempt)
      WHERE NOT coalesce(b.state, 'claimed') IN ['done', 'aborted', 'expired']
    }
  WITH a, m, m.ripeAt AS ripe, m.id AS id
  ORDER BY ripe, id
  LIMIT $limit
  WITH DISTINCT a, m
  SET m.ebbLock = true
  WITH a, m, m.ripeAt IS NOT NULL AND m.tier IN ['working', 'shortTerm'] AND coalesce(m.pinned, false) = false
    AND NOT EXISTS {
      MATCH (m)-[:CONSOLIDATING]->(b:ConsolidationAttempt)
      WHERE NOT coalesce(b.state, 'claimed') IN ['done', 'aborted', 'expired']
    } AS free
  FOREACH (_ IN CASE WHEN free THEN [1] ELSE [] END |
    CREATE (m)-[:CONSOLIDATING {since: datetime.realtime()}]->(a))
  RETURN sum(CASE WHEN free THEN 1 ELSE 0 END) AS claimed, sum(CASE WHEN free THEN 0 ELSE 1 END) AS passedOver
}
SET a.state = 'claimed', a.claimed = CASE WHEN 0 <= a.claimed <= 1000000000000 THEN toInteger(a.claimed) ELSE 0 END + claimed,
  a.leaseUntil = datetime.realtime().epochMillis + $leaseMs
RETURN claimed, passedOver
