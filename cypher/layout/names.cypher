// purpose: List the labels, types of relationships and property names of the database.
// mode: read
// params: none
// returns: name: String, kind: String (label, type or property; a row for each)
CALL () {
  CALL db.labels() YIELD label
  RETURN label AS name, 'label' AS kind
  UNION ALL
  CALL db.relationshipTypes() YIELD relationshipType
  RETURN relationshipType AS name, 'type' AS kind
  UNION ALL
  CALL db.propertyKeys() YIELD propertyKey
  RETURN propertyKey AS name, 'property' AS kind
}
RETURN name, kind
