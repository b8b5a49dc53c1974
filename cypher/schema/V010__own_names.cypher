// purpose: Keys of entities and relations under names that only Ebb uses: other libraries write entities and relations, too.
// mode: schema
// params: none
//
// Rows are marked and renamed by the statements of `cypher/migration` before this is recorded as applied.
CREATE CONSTRAINT ebb_entity_key IF NOT EXISTS FOR (e:EbbEntity) REQUIRE (e.scope, e.name) IS UNIQUE;
CREATE CONSTRAINT ebb_relation_own_key IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE r.ebbKey IS UNIQUE;
DROP CONSTRAINT ebb_entity_name IF EXISTS;
DROP CONSTRAINT ebb_relation_key IF EXISTS;
