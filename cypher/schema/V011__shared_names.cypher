// purpose: Drop the keys of names that other libraries use, too.
// mode: schema
// params: none
DROP CONSTRAINT ebb_entity_name IF EXISTS;
DROP CONSTRAINT ebb_relation_key IF EXISTS;
