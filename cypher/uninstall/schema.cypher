// purpose: List the indexes, with the constraints that own them.
// mode: read
// params: none
// returns: name: String, constraint: String, about: List, properties: List (a row an index; constraint and about may be null)
SHOW INDEXES YIELD name, owningConstraint, labelsOrTypes, properties
RETURN name, owningConstraint AS constraint, labelsOrTypes AS about, properties
