// purpose: Keys of clusters, and indexes of what co-activation, clustering and strengthening wait for.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_cluster_id IF NOT EXISTS FOR (c:SemanticCluster) REQUIRE c.id IS UNIQUE;
CREATE CONSTRAINT ebb_cluster_key IF NOT EXISTS FOR (c:SemanticCluster) REQUIRE c.key IS UNIQUE;
CREATE INDEX ebb_session_name IF NOT EXISTS FOR (s:Session) ON (s.id);
CREATE INDEX ebb_session_coactivate IF NOT EXISTS FOR (s:Session) ON (s.coactivateDue);
CREATE INDEX ebb_memory_cluster IF NOT EXISTS FOR (m:Memory) ON (m.clusterDue);
CREATE INDEX ebb_memory_reinforce IF NOT EXISTS FOR (m:Memory) ON (m.reinforceDue);
