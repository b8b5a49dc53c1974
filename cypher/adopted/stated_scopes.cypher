// purpose: List the scopes in which Ebb keeps states of rows of other libraries.
// mode: read
// params: none
// returns: scope: String (a row for each)
MATCH (s:EbbState)
WHERE s.scope IS :: STRING NOT NULL
RETURN DISTINCT s.scope AS scope
ORDER BY scope
