// purpose: The ids of API keys.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_key_id IF NOT EXISTS FOR (k:EbbKey) REQUIRE k.id IS UNIQUE;
