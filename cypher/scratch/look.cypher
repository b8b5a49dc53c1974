// purpose: Read the scratch marker, and the number of nodes not written by `ebb init`.
// mode: read
// params: none
// returns: marked: Boolean, foreign: Integer (one row)
//
// Every number comes from the count store, so reading a large database costs nothing.
CALL () { MATCH (n) RETURN count(n) AS everything }
CALL () { MATCH (n:EbbMigration) RETURN count(n) AS migrations }
CALL () { MATCH (n:EbbCounter) RETURN count(n) AS counters }
CALL () { MATCH (n:EbbScratch) RETURN count(n) AS markers }
CALL () { MATCH (n:EbbSettings) RETURN count(n) AS settings }
CALL () { MATCH (n:ConsolidationConfig) RETURN count(n) AS configs }
RETURN markers > 0 AS marked, everything - migrations - counters - markers - settings - configs AS foreign
