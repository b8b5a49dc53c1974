// purpose: List API keys, including revoked ones.
// mode: read
// params: $limit: Integer
// returns: id: String, name: String, rights: String, scopes: List, created: Integer, revoked: Boolean, revokedAt: Integer, expired: Boolean, expires: Integer (at most $limit rows)
// clock: server
//
// Where there are more than $limit, keys that are not revoked come first. A property of a wrong type is null, and a key
// without its hash, right or scopes grants nothing. A key with any value in revoked is revoked, and one with any value
// in expires but a future instant is expired.
MATCH (k:EbbKey)
WITH k ORDER BY k.revoked IS NOT NULL, k.created, k.id LIMIT $limit
RETURN toStringOrNull(k.id) AS id, toStringOrNull(k.name) AS name,
  toStringOrNull(k.rights) AS rights, CASE WHEN k.scopes IS :: LIST<STRING NOT NULL> THEN k.scopes END AS scopes,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= k.created < datetime({epochMillis: 253402300800000}) THEN k.created.epochMillis END AS created,
  k.revoked IS NOT NULL AS revoked,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= k.revoked < datetime({epochMillis: 253402300800000}) THEN k.revoked.epochMillis END AS revokedAt,
  CASE WHEN k.expires IS NULL THEN false ELSE coalesce(k.expires <= datetime.realtime(), true) END AS expired,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= k.expires < datetime({epochMillis: 253402300800000}) THEN k.expires.epochMillis END AS expires
ORDER BY k.created, id
