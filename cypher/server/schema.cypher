// purpose: Name the constraints and indexes there are, and their state.
// mode: read
// params: none
// returns: name: String, state: String (a row an index or constraint)
SHOW INDEXES YIELD name, state
RETURN name, state
