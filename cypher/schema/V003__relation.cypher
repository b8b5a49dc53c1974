// purpose: The key of relations that fade.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_relation_key IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE r.key IS UNIQUE;
