// purpose: Check whether the settings with this digest are those of the last initialisation.
// mode: read
// params: $digest: String
// returns: same: Boolean (one row)
RETURN EXISTS { MATCH (s:EbbSettings {name: 'default'}) WHERE s.settingsDigest = $digest } AS same
