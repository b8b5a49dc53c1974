// purpose: End an attempt whose lease has expired, and remove its marks.
// mode: write
// params: $id: String, $holder: String, $anyLease: Boolean
// returns: reaped: Integer, marks: Integer (one row; none if its lease still lasts)
// bound: one key, with the marks of one claim
// idempotent: by the state
// law: domain::attempt::step
// clock: server
//
// $holder is the process that reaps, so that a wait for this lock can be distinguished from others. $anyLease is for
// the holder of a scratch database's lock: its predecessor is dead, so its lease need not expire first.
MATCH (a:ConsolidationAttempt {id: $id})
USING INDEX SEEK a:ConsolidationAttempt(id)
SET a.lock = $holder
WITH a, datetime.realtime().epochMillis AS serverNow
WHERE a.state IN ['planned', 'claimed'] AND ($anyLease OR a.leaseUntil <= serverNow)
SET a.state = 'expired'
WITH a
CALL (a) {
  OPTIONAL MATCH ()-[c:CONSOLIDATING]->(a)
  DELETE c
  RETURN count(c) AS marks
}
RETURN 1 AS reaped, marks
