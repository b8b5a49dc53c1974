// purpose: List the labels and the types of relationships of the database.
// mode: read
// params: none
// returns: name: String, isLabel: Boolean (a row for each)
CALL () {
  CALL db.labels() YIELD label
  RETURN label AS name, true AS isLabel
  UNION ALL
  CALL db.relationshipTypes() YIELD relationshipType
  RETURN relationshipType AS name, false AS isLabel
}
RETURN name, isLabel
