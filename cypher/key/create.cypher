// purpose: Store a new API key by its hash, never the key itself.
// mode: write
// params: $id: String, $name: String, $hash: String, $rights: String, $rows.scopes: List, $created: Integer, $expires: Integer
// returns: kept: Integer (one row)
// bound: one key
// idempotent: by the unique id
MERGE (k:EbbKey {id: $id})
ON CREATE SET k.name = $name, k.hash = $hash, k.rights = $rights, k.scopes = $rows.scopes,
  k.created = datetime({epochMillis: $created}),
  k.expires = CASE WHEN $expires IS NOT NULL THEN datetime({epochMillis: $expires}) END
RETURN count(k) AS kept
