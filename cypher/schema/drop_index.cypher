// purpose: Drop an index.
// mode: schema
// params: $name: String
// returns: nothing
DROP INDEX $name IF EXISTS
