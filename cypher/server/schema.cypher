// purpose: List the indexes, those of constraints too, with their states.
// mode: read
// params: none
// returns: name: String, state: String, kind: String, entity: String, about: List, properties: List, owner: String (a row an index; about is null of a lookup, owner of an index without constraint)
SHOW INDEXES YIELD name, state, type, entityType, labelsOrTypes, properties, owningConstraint
RETURN name, state, type AS kind, entityType AS entity, labelsOrTypes AS about, properties, owningConstraint AS owner
