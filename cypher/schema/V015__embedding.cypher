// purpose: The backlog of memories without an embedding of the configured model.
// mode: schema
// params: none
CREATE INDEX ebb_memory_embed_due IF NOT EXISTS FOR (m:Memory) ON (m.embedDue);
