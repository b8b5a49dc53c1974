// purpose: Count what somebody has to see to: quarantined rows, and attempts that nobody ended.
// mode: read
// params: $overdueMs: Integer
// returns: quarantined: Integer, stuck: Integer (one row)
// clock: server
//
// An attempt is stuck when its lease has been over for longer than any worker that runs would have left it.
CALL () {
  MATCH (q:EbbQuarantined)
  RETURN count(q) AS quarantined
}
CALL () {
  MATCH (a:ConsolidationAttempt)
  WHERE a.state IN ['planned', 'claimed'] AND a.leaseUntil <= datetime.realtime().epochMillis - $overdueMs
  RETURN count(a) AS stuck
}
RETURN quarantined, stuck
