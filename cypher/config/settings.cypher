// purpose: Store the settings that inspect statements read, and the digest of an initialisation, unless they are stored already or a later layout is.
// mode: write
// params: $layout: Integer, $halfLifeMs: Float, $minimum: Float, $kept: Float, $digest: String, $by: String, $version: String, $now: Integer
// returns: written: Boolean, by: String, at: String (by and at of the settings before, null without; one row, none without tunables)
// bound: one node
// idempotent: equal settings write nothing
//
// The lock on the tunables lets two programs that start at once make one node. Without a digest the stored one stays, or
// goes with the settings that it was of.
MATCH (c:ConsolidationConfig {name: 'default'})
SET c.ebbLock = true
REMOVE c.ebbLock
MERGE (s:EbbSettings {name: 'default'})
WITH s, toStringOrNull(s.by) AS by, toStringOrNull(s.at) AS at,
  NOT coalesce(s.layout > $layout, false)
    AND NOT coalesce(s.layout = $layout AND s.relationHalfLifeMs = $halfLifeMs AND s.relationMinimum = $minimum AND s.learnedKept = $kept
      AND ($digest IS NULL OR s.settingsDigest = $digest), false) AS written
FOREACH (_ IN CASE WHEN written THEN [1] ELSE [] END |
  SET s.layout = $layout, s.relationHalfLifeMs = $halfLifeMs, s.relationMinimum = $minimum, s.learnedKept = $kept,
    s.settingsDigest = $digest, s.by = $by, s.version = $version, s.at = datetime({epochMillis: $now}))
RETURN written, by, at
