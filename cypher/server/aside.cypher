// purpose: Count the relations, places and edges that were set aside.
// mode: read
// params: none
// returns: relations: Integer, places: Integer, edges: Integer (one row)
// names: :Wing|Room|Closet|Drawer|Entity, :HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO
//
// A reason has no index, so it reads every one of them; a person asks, now and then.
CALL () {
  MATCH ()-[r:RELATES_TO]->()
  WHERE r.ebbReason IS NOT NULL
  RETURN count(r) AS relations
}
CALL () {
  MATCH (n:Wing|Room|Closet|Drawer|Entity)
  WHERE n.ebbTrailReason IS NOT NULL
  RETURN count(n) AS places
}
CALL () {
  MATCH ()-[r:HAS_ROOM|HAS_CLOSET|HAS_DRAWER|HALL|TUNNEL|RELATES_TO|REFERENCES|SIMILAR_TO]->()
  WHERE r.ebbTrailReason IS NOT NULL
  RETURN count(r) AS edges
}
RETURN relations, places, edges
