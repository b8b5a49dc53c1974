// purpose: Read the scratch marker, the simulated time, and the number of nodes not written by `ebb init`.
// mode: read
// params: none
// returns: marked: Boolean, now: Integer, foreign: Integer, serverNow: Integer (one row)
// clock: server
//
// serverNow is the time base of writes where time is not simulated: the client's clock may be wrong. Every number comes
// from the count store, so reading a large database costs nothing.
CALL () { OPTIONAL MATCH (s:EbbScratch {name: 'scratch'}) RETURN s IS NOT NULL AS marked, CASE WHEN datetime({epochMillis: -62135596800000}) <= s.now < datetime({epochMillis: 253402300800000}) THEN s.now.epochMillis END AS now }
CALL () { MATCH (n) RETURN count(n) AS everything }
CALL () { MATCH (n:EbbMigration) RETURN count(n) AS migrations }
CALL () { MATCH (n:EbbCounter) RETURN count(n) AS counters }
CALL () { MATCH (n:EbbScratch) RETURN count(n) AS markers }
CALL () { MATCH (n:EbbSettings) RETURN count(n) AS settings }
CALL () { MATCH (n:ConsolidationConfig) RETURN count(n) AS configs }
RETURN marked, now, everything - migrations - counters - markers - settings - configs AS foreign, datetime.realtime().epochMillis AS serverNow
