// purpose: Read the number of dimensions of the vector index.
// mode: read
// params: none
// returns: dimensions: Integer (at most one row)
SHOW VECTOR INDEXES YIELD name, options
WHERE name = 'ebb_memory_embedding'
RETURN toInteger(options.indexConfig['vector.dimensions']) AS dimensions
