// purpose: The vector index of embeddings, of as many numbers as the configuration names.
// mode: schema
// params: $options: Map
CREATE VECTOR INDEX ebb_memory_embedding IF NOT EXISTS FOR (m:Memory) ON (m.embedding) OPTIONS $options
