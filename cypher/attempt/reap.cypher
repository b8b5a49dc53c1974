// purpose: End an attempt whose lease is over, and remove its marks.
// mode: write
// params: $id: String, $anyLease: Boolean
// returns: reaped: Integer, marks: Integer (one row; none if its lease still lasts)
// bound: one key, with the marks of one claim
// idempotent: by the state
// clock: server
//
// $anyLease is for the holder of a scratch database's lock: its predecessor is dead, and its lease need not run out.
MATCH (a:ConsolidationAttempt {id: $id})
SET a.lock = true
WITH a, datetime.realtime().epochMillis AS serverNow
WHERE a.state IN ['planned', 'claimed'] AND ($anyLease OR a.leaseUntil <= serverNow)
SET a.state = 'expired'
WITH a
CALL (a) {
  OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a)
  DELETE c
  RETURN count(c) AS marks
}
RETURN count(a) AS reaped, sum(marks) AS marks
