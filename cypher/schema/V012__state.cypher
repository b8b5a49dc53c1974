// purpose: Key of the states that Ebb keeps of rows of other libraries, which have nothing of Ebb's on themselves.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_state_key IF NOT EXISTS FOR (s:EbbState) REQUIRE (s.scope, s.kind, s.key) IS UNIQUE;
