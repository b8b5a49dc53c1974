// purpose: Key of nodes by their name in a backup, while it is restored.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_restored IF NOT EXISTS FOR (n:EbbRestored) REQUIRE n.ebbRestored IS UNIQUE
