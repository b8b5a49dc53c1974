// purpose: Say whether there are relations at all; the count store answers.
// mode: read
// params: none
// returns: relations: Integer (one row)
MATCH ()-[r:RELATES_TO]->()
RETURN count(r) AS relations
