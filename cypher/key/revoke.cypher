// purpose: Revoke an API key permanently.
// mode: write
// params: $id: String, $at: Integer
// returns: name: String, first: Boolean (one row, none where there is no such key)
// bound: one key
// idempotent: by the instant that is there already
MATCH (k:EbbKey {id: $id})
SET k.lock = true
WITH k, k.revoked IS NULL AS first
SET k.revoked = coalesce(k.revoked, datetime({epochMillis: $at}))
RETURN toStringOrNull(k.name) AS name, first
