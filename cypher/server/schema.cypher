// purpose: Name the constraints and indexes there are, and their state.
// mode: read
// params: none
// returns: name: String, state: String, about: List, properties: List (a row an index or constraint; about is null of a lookup)
SHOW INDEXES YIELD name, state, labelsOrTypes, properties
RETURN name, state, labelsOrTypes AS about, properties
