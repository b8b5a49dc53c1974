// purpose: Check whether there are relations, from the count store.
// mode: read
// params: none
// returns: relations: Integer (one row)
MATCH ()-[r:RELATES_TO]->()
RETURN count(r) AS relations
