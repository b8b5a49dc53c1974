// purpose: Say how many accesses in sessions no writer of Ebb has told of.
// mode: read
// params: none
// returns: unseen: Integer (one row)
//
// All of them, from the count store, less those that were counted, less those of sessions that wait.
CALL () { MATCH ()-[a:ACCESSED_IN]->() RETURN count(a) AS all }
CALL () {
  OPTIONAL MATCH (c:EbbCounter {name: 'job:coactivate'})
  RETURN coalesce(c.accesses, 0) AS known
}
CALL () {
  MATCH (s:Session)
  WHERE s.coactivateDue >= datetime({epochMillis: -62135596800000})
  RETURN coalesce(sum(COUNT { (s)<-[:ACCESSED_IN]-() } - coalesce(s.coactivated, 0)), 0) AS waiting
}
RETURN all - known - waiting AS unseen
