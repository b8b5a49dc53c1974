// purpose: Check whether an API key has ever existed: from then on every request needs one.
// mode: read
// params: none
// returns: marked: Boolean, any: Boolean (one row; marked by the mark that outlives keys, any by a key that is there)
RETURN EXISTS { MATCH (:EbbCounter {name: 'keys'}) } AS marked, EXISTS { MATCH (:EbbKey) } AS any
