// purpose: Count the live memories of a scope.
// mode: read
// params: $scope: String
// returns: live: Integer (one row)
//
// By the key and not by the tier, whose index has the memories of all scopes: a list of scopes asks this for each of them. Memories of other libraries, as in memory/adopt,
// are left out.
MATCH (m:Memory {scope: $scope})
USING INDEX SEEK m:Memory(scope, id)
WHERE m.id IS NOT NULL AND m.tier IN ['working', 'shortTerm', 'longTerm']
  AND CASE WHEN m:EbbMemory THEN true ELSE m.content IS NOT NULL END
RETURN count(m) AS live
