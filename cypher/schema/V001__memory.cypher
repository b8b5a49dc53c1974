// purpose: Keys and indexes of memories, sessions, entities, attempts and of Ebb's own bookkeeping.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_memory_id IF NOT EXISTS FOR (m:Memory) REQUIRE m.id IS UNIQUE;
CREATE CONSTRAINT ebb_memory_promotion_key IF NOT EXISTS FOR (m:Memory) REQUIRE m.promotionKey IS UNIQUE;
CREATE CONSTRAINT ebb_session_id IF NOT EXISTS FOR (s:Session) REQUIRE (s.scope, s.id) IS UNIQUE;
CREATE CONSTRAINT ebb_entity_name IF NOT EXISTS FOR (e:Entity) REQUIRE (e.scope, e.name) IS UNIQUE;
CREATE CONSTRAINT ebb_attempt_id IF NOT EXISTS FOR (a:ConsolidationAttempt) REQUIRE a.id IS UNIQUE;
CREATE CONSTRAINT ebb_config_name IF NOT EXISTS FOR (c:ConsolidationConfig) REQUIRE c.name IS UNIQUE;
CREATE CONSTRAINT ebb_run_occurrence IF NOT EXISTS FOR (r:EbbRun) REQUIRE (r.job, r.occurrence) IS UNIQUE;
CREATE CONSTRAINT ebb_counter_name IF NOT EXISTS FOR (c:EbbCounter) REQUIRE c.name IS UNIQUE;
CREATE CONSTRAINT ebb_request_id IF NOT EXISTS FOR (r:EbbRequest) REQUIRE r.id IS UNIQUE;
CREATE CONSTRAINT ebb_import_key IF NOT EXISTS FOR (i:EbbImport) REQUIRE i.key IS UNIQUE;
CREATE CONSTRAINT ebb_tombstone_hash IF NOT EXISTS FOR (t:EbbTombstone) REQUIRE t.hash IS UNIQUE;
CREATE CONSTRAINT ebb_migration_version IF NOT EXISTS FOR (m:EbbMigration) REQUIRE m.version IS UNIQUE;
CREATE CONSTRAINT ebb_scratch_name IF NOT EXISTS FOR (s:EbbScratch) REQUIRE s.name IS UNIQUE;
CREATE INDEX ebb_memory_due IF NOT EXISTS FOR (m:Memory) ON (m.dueAt);
CREATE INDEX ebb_memory_ripe IF NOT EXISTS FOR (m:Memory) ON (m.ripeAt);
CREATE INDEX ebb_memory_tier IF NOT EXISTS FOR (m:Memory) ON (m.tier);
CREATE INDEX ebb_memory_session IF NOT EXISTS FOR (m:Memory) ON (m.sessionId);
CREATE INDEX ebb_request_at IF NOT EXISTS FOR (r:EbbRequest) ON (r.at);
CREATE INDEX ebb_run_state IF NOT EXISTS FOR (r:EbbRun) ON (r.state);
CREATE INDEX ebb_attempt_state IF NOT EXISTS FOR (a:ConsolidationAttempt) ON (a.state);
