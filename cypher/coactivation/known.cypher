// purpose: Record the number of counted accesses after a scan of all sessions.
// mode: write
// params: $accesses: Integer
// returns: accesses: Integer (one row)
// bound: one key
// idempotent: by writing a state
//
// Sessions whose id is not text are outside the index of the scan. They are never counted, and their accesses, added
// here, cause no further scan.
CALL () {
  MATCH (s:Session)
  WHERE CASE WHEN s.id IS :: STRING NOT NULL THEN false ELSE true END
  RETURN coalesce(sum(COUNT { (s)<-[:ACCESSED_IN]-() }), 0) AS others
}
MERGE (c:EbbCounter {name: 'progress:coactivate'})
SET c.accesses = $accesses + others
RETURN c.accesses AS accesses
