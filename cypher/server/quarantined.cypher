// purpose: Count the quarantined relations, places and edges.
// mode: read
// params: none
// returns: relations: Integer, places: Integer, edges: Integer (one row)
// names: :Room, :HALL
//
// A reason has no index, so this reads every one of them; it runs only on request.
CALL () {
  MATCH ()-[r:RELATES_TO]->()
  WHERE r.ebbReason IS NOT NULL
  RETURN count(r) AS relations
}
CALL () {
  MATCH (n:Room)
  WHERE n.ebbTrailReason IS NOT NULL
  RETURN count(n) AS places
}
CALL () {
  MATCH ()-[r:HALL]->()
  WHERE r.ebbTrailReason IS NOT NULL
  RETURN count(r) AS edges
}
RETURN relations, places, edges
