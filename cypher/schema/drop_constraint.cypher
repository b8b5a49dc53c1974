// purpose: Drop a constraint, with its index.
// mode: schema
// params: $name: String
// returns: nothing
DROP CONSTRAINT $name IF EXISTS
