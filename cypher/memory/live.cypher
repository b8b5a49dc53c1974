// purpose: Count the live memories of a scope.
// mode: read
// params: $scope: String
// returns: live: Integer (one row)
//
// By the key and not by the tier, whose index has the memories of all scopes: a list of scopes asks this for each of them.
MATCH (m:Memory {scope: $scope})
USING INDEX SEEK m:Memory(scope, id)
WHERE m.id IS NOT NULL AND m.tier IN ['working', 'shortTerm', 'longTerm']
RETURN count(m) AS live
