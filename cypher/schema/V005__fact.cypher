// purpose: Keys of facts, their lineages, policies and sweeps, and the order in which the heads of a scope are swept.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_fact_id IF NOT EXISTS FOR (f:Fact) REQUIRE f.id IS UNIQUE;
CREATE CONSTRAINT ebb_lineage_key IF NOT EXISTS FOR (l:EbbLineage) REQUIRE l.key IS UNIQUE;
CREATE CONSTRAINT ebb_policy_id IF NOT EXISTS FOR (p:EbbPolicy) REQUIRE p.id IS UNIQUE;
CREATE CONSTRAINT ebb_sweep_job_id IF NOT EXISTS FOR (j:EbbSweepJob) REQUIRE j.id IS UNIQUE;
CREATE INDEX ebb_lineage_scope IF NOT EXISTS FOR (l:EbbLineage) ON (l.scope, l.key);
CREATE INDEX ebb_fact_scope IF NOT EXISTS FOR (f:Fact) ON (f.scope, f.id);
CREATE INDEX ebb_sweep_job_state IF NOT EXISTS FOR (j:EbbSweepJob) ON (j.state);
