// purpose: Read the API keys that are valid now.
// mode: read
// params: $limit: Integer
// returns: id: String, hash: String, rights: String, scopes: List (at most $limit rows)
// clock: server
//
// Keys that are revoked, expired or malformed are not among the rows, so that they do not count towards the limit.
MATCH (k:EbbKey)
WHERE k.revoked IS NULL
  AND (k.expires IS NULL OR (k.expires IS :: ZONED DATETIME AND k.expires > datetime.realtime()))
  AND k.id IS :: STRING NOT NULL AND k.hash IS :: STRING NOT NULL AND k.rights IS :: STRING NOT NULL
  AND k.scopes IS :: LIST<STRING NOT NULL> NOT NULL
WITH k
ORDER BY k.created, k.id
LIMIT $limit
RETURN k.id AS id, k.hash AS hash, k.rights AS rights, k.scopes AS scopes
