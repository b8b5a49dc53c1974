// purpose: Count the rows that need attention: quarantined rows, and attempts that were never ended.
// mode: read
// params: $overdueMs: Integer
// returns: quarantined: Integer, stuck: Integer (one row)
// clock: server
//
// An attempt is stuck when its lease expired longer ago than any running worker would have left it.
CALL () {
  MATCH (q:EbbQuarantined)
  RETURN count(q) AS quarantined
}
CALL () {
  MATCH (a:ConsolidationAttempt)
  USING INDEX SEEK a:ConsolidationAttempt(state)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil <= datetime.realtime().epochMillis - $overdueMs
  RETURN count(a) AS stuck
}
RETURN quarantined, stuck
