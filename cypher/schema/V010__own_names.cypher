// purpose: Keys of entities and relations under names that only Ebb uses: other libraries write entities and relations, too.
// mode: schema
// params: none
//
// Before it is recorded as applied, the statements of `cypher/migration` give rows of an older version these names. The
// constraints of the old names stand until the next migration.
CREATE CONSTRAINT ebb_entity_key IF NOT EXISTS FOR (e:EbbEntity) REQUIRE (e.scope, e.name) IS UNIQUE;
CREATE CONSTRAINT ebb_relation_own_key IF NOT EXISTS FOR ()-[r:RELATES_TO]-() REQUIRE r.ebbKey IS UNIQUE;
