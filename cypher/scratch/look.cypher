// purpose: Read the scratch marker with the replay that it names, and the number of nodes not written by `ebb init`.
// mode: read
// params: none
// returns: marked: Boolean, work: String, holder: String, foreign: Integer (one row; work null without a marker, or in one of an earlier version)
//
// Every number comes from the count store, so reading a large database costs nothing.
OPTIONAL MATCH (s:EbbScratch {name: 'scratch'})
CALL () { MATCH (n) RETURN count(n) AS everything }
CALL () { MATCH (n:EbbMigration) RETURN count(n) AS migrations }
CALL () { MATCH (n:EbbCounter) RETURN count(n) AS counters }
CALL () { MATCH (n:EbbScratch) RETURN count(n) AS markers }
CALL () { MATCH (n:EbbSettings) RETURN count(n) AS settings }
CALL () { MATCH (n:ConsolidationConfig) RETURN count(n) AS configs }
RETURN markers > 0 AS marked, CASE WHEN s.work IS :: STRING THEN s.work END AS work,
  CASE WHEN s.lock IS :: STRING THEN s.lock END AS holder,
  everything - migrations - counters - markers - settings - configs AS foreign
