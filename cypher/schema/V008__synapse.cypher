// purpose: The key of synapses, the ways to those of a node and to those that changed, and outcomes in the order in which they are learned.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_synapse_key IF NOT EXISTS FOR (s:EbbSynapse) REQUIRE s.key IS UNIQUE;
CREATE INDEX ebb_synapse_tick IF NOT EXISTS FOR (s:EbbSynapse) ON (s.scope, s.tick);
CREATE INDEX ebb_synapse_source IF NOT EXISTS FOR (s:EbbSynapse) ON (s.scope, s.source);
CREATE INDEX ebb_synapse_target IF NOT EXISTS FOR (s:EbbSynapse) ON (s.scope, s.target);
CREATE INDEX ebb_request_waits IF NOT EXISTS FOR (r:EbbRequest) ON (r.waits, r.at, r.id);
