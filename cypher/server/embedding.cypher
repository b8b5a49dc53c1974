// purpose: Say how many numbers the embeddings of the vector index have.
// mode: read
// params: none
// returns: dimensions: Integer (at most one row)
SHOW VECTOR INDEXES YIELD name, options
WHERE name = 'ebb_memory_embedding'
RETURN toInteger(options.indexConfig['vector.dimensions']) AS dimensions
