// purpose: Keys of memories, promotions, clusters and facts within their scope: ids repeat over scopes.
// mode: schema
// params: none
//
// The new keys stand before the old ones go. Rows that other writers made without a scope are found by their ids.
CREATE CONSTRAINT ebb_memory_key IF NOT EXISTS FOR (m:Memory) REQUIRE (m.scope, m.id) IS UNIQUE;
CREATE CONSTRAINT ebb_memory_promotion IF NOT EXISTS FOR (m:Memory) REQUIRE (m.scope, m.promotionKey) IS UNIQUE;
CREATE CONSTRAINT ebb_cluster_name IF NOT EXISTS FOR (c:SemanticCluster) REQUIRE (c.scope, c.id) IS UNIQUE;
CREATE CONSTRAINT ebb_cluster_of_key IF NOT EXISTS FOR (c:SemanticCluster) REQUIRE (c.scope, c.key) IS UNIQUE;
DROP INDEX ebb_fact_scope IF EXISTS;
CREATE CONSTRAINT ebb_fact_key IF NOT EXISTS FOR (f:Fact) REQUIRE (f.scope, f.id) IS UNIQUE;
DROP CONSTRAINT ebb_memory_id IF EXISTS;
DROP CONSTRAINT ebb_memory_promotion_key IF EXISTS;
DROP CONSTRAINT ebb_cluster_id IF EXISTS;
DROP CONSTRAINT ebb_cluster_key IF EXISTS;
DROP CONSTRAINT ebb_fact_id IF EXISTS;
CREATE INDEX ebb_memory_find IF NOT EXISTS FOR (m:Memory) ON (m.id);
CREATE INDEX ebb_fact_find IF NOT EXISTS FOR (f:Fact) ON (f.id);
CREATE INDEX ebb_cluster_find IF NOT EXISTS FOR (c:SemanticCluster) ON (c.id);
