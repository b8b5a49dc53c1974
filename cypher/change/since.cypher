// purpose: Show what was changed since an instant.
// mode: read
// params: $since: Integer
// returns: element: String, at: Integer, everything: Boolean, labels: List, scopes: List, keys: List, kinds: List (a row for each transaction, in the order of their instants)
//
// Epoch milliseconds of the server.
MATCH (c:EbbChange)
WHERE c.at >= datetime({epochMillis: $since})
RETURN elementId(c) AS element, c.at.epochMillis AS at, c.everything AS everything, c.labels AS labels, c.scopes AS scopes, c.keys AS keys, c.kinds AS kinds
ORDER BY c.at
