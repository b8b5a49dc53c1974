// purpose: Read the vector index of memories, whatever its name, and the number of its dimensions.
// mode: read
// params: none
// returns: name: String, dimensions: Integer (at most one row)
SHOW VECTOR INDEXES YIELD name, labelsOrTypes, properties, options
WHERE labelsOrTypes = ['Memory'] AND properties = ['embedding']
RETURN name, toInteger(options.indexConfig['vector.dimensions']) AS dimensions
