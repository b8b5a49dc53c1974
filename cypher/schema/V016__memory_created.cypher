// purpose: The memories of a scope in the order of their creation.
// mode: schema
// params: none
CREATE INDEX ebb_memory_created IF NOT EXISTS FOR (m:Memory) ON (m.scope, m.created);
