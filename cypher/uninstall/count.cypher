// purpose: Count what an uninstallation removes: nodes of Ebb's own, and nodes and relationships with its marks.
// mode: read
// params: none
// returns: nodes: Integer, marked: Integer, relationships: Integer (one row)
//
// Scans the whole graph: a mark is found wherever it is.
CALL () {
  MATCH (n:EbbRun|EbbRequest|EbbChange|EbbCounter|EbbLineage|EbbPolicy|EbbSweepJob|EbbSynapse|EbbKey|EbbTombstone|EbbImport|EbbMigration|EbbScratch|EbbSettings|EbbState|EbbJournal|EbbVersion|EbbErasure|ConsolidationAttempt|ConsolidationConfig)
  RETURN count(n) AS nodes
}
CALL () {
  MATCH (n)
  WHERE NOT n:EbbRun|EbbRequest|EbbChange|EbbCounter|EbbLineage|EbbPolicy|EbbSweepJob|EbbSynapse|EbbKey|EbbTombstone|EbbImport|EbbMigration|EbbScratch|EbbSettings|EbbState|EbbJournal|EbbVersion|EbbErasure|ConsolidationAttempt|ConsolidationConfig
    AND (n:EbbMemory|EbbStamped|EbbFact|EbbEntity|EbbQuarantined OR n.ebbLock IS NOT NULL OR n.ebbReason IS NOT NULL OR n.ebbTrailReason IS NOT NULL
      OR n.ebbMoved IS NOT NULL OR n:Session AND (n.coactivateDue IS NOT NULL OR n.coactivated IS NOT NULL))
  RETURN count(n) AS marked
}
CALL () {
  MATCH ()-[r]->()
  WHERE r.ebbKey IS NOT NULL OR r.ebbLock IS NOT NULL OR r.ebbReason IS NOT NULL OR r.ebbTrailReason IS NOT NULL OR r.ebbMoved IS NOT NULL
  RETURN count(r) AS relationships
}
RETURN nodes, marked, relationships
