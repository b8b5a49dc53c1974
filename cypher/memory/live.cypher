// purpose: Count the live memories of a scope.
// mode: read
// params: $scope: String
// returns: live: Integer (one row)
MATCH (m:Memory {scope: $scope})
USING INDEX SEEK m:Memory(tier)
WHERE m.tier IN ['working', 'shortTerm', 'longTerm']
RETURN count(m) AS live
