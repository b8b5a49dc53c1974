// purpose: List the changes since an instant, of a scope or of all.
// mode: read
// params: $since: Integer, $scope: String
// returns: id: String, at: Integer, everything: Boolean, labels: List, scopes: List, keys: List, kinds: List (a row for each transaction, in the order of their instants)
//
// Instants are epoch milliseconds of the server. A malformed record counts as a change of everything. A change without a scope
// is one of all; where $scope is null, those of all scopes are listed. The record of a request has its own id as c.change.
MATCH (c:EbbChange)
USING INDEX SEEK c:EbbChange(at)
WHERE datetime({epochMillis: $since}) <= c.at < datetime({epochMillis: 253402300800000})
WITH c, c.labels IS :: LIST<STRING NOT NULL> NOT NULL AND c.scopes IS :: LIST<STRING NOT NULL> NOT NULL
  AND c.keys IS :: LIST<STRING NOT NULL> NOT NULL AND c.kinds IS :: LIST<STRING NOT NULL> NOT NULL AS sound
WITH c, sound, coalesce(c.everything = true, false) OR NOT sound AS everything
WHERE $scope IS NULL OR everything OR any(one IN c.scopes WHERE one IN ['', $scope])
RETURN CASE WHEN c.change IS :: STRING NOT NULL THEN c.change WHEN c.id IS :: STRING NOT NULL THEN c.id ELSE elementId(c) END AS id, c.at.epochMillis AS at, everything,
  CASE WHEN sound THEN c.labels ELSE [] END AS labels, CASE WHEN sound THEN c.scopes ELSE [] END AS scopes,
  CASE WHEN sound THEN c.keys ELSE [] END AS keys, CASE WHEN sound THEN c.kinds ELSE [] END AS kinds
ORDER BY c.at
