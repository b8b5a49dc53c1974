// purpose: List the constraints and indexes, with their states.
// mode: read
// params: none
// returns: name: String, state: String, about: List, properties: List (a row an index or constraint; about is null of a lookup)
SHOW INDEXES YIELD name, state, labelsOrTypes, properties
RETURN name, state, labelsOrTypes AS about, properties
