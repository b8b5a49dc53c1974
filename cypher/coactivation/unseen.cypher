// purpose: Count the accesses in sessions that were not recorded by Ebb.
// mode: read
// params: none
// returns: unseen: Integer (one row)
//
// The result is the number of all accesses in sessions, from the count store, less the counted ones, less those of
// sessions that wait.
CALL () { MATCH ()-[a:ACCESSED_IN]->(:Session) RETURN count(a) AS total }
CALL () {
  OPTIONAL MATCH (c:EbbCounter {name: 'progress:coactivate'})
  RETURN CASE WHEN 0 <= c.accesses <= 1000000000000 THEN toInteger(c.accesses) ELSE 0 END AS known
}
CALL () {
  MATCH (s:Session)
  USING INDEX SEEK s:Session(coactivateDue)
  WHERE s.coactivateDue >= datetime({epochMillis: -62135596800000}) AND s.scope IS :: STRING NOT NULL
  RETURN coalesce(sum(COUNT { (s)<-[:ACCESSED_IN]-() } - CASE WHEN 0 <= s.coactivated <= 1000000000000 THEN toInteger(s.coactivated) ELSE 0 END), 0) AS waiting
}
RETURN total - known - waiting AS unseen
