// purpose: Receipts of deleted scopes: one open deletion in a scope, receipts by scope; and the rows of a scope that had no index by it.
// mode: schema
// params: none
CREATE CONSTRAINT ebb_erasure_open IF NOT EXISTS FOR (e:EbbErasure) REQUIRE e.open IS UNIQUE;
CREATE INDEX ebb_erasure_scope IF NOT EXISTS FOR (e:EbbErasure) ON (e.scope, e.at);
CREATE INDEX ebb_version_scope IF NOT EXISTS FOR (v:EbbVersion) ON (v.scope);
CREATE INDEX ebb_tombstone_scope IF NOT EXISTS FOR (t:EbbTombstone) ON (t.scope);
