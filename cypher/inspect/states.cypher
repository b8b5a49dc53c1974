// States: rows of other libraries that are pinned, hidden or accessed through Ebb
// purpose: Show the states that Ebb keeps of rows of other libraries, the last accessed or pinned first.
// mode: read
// params: none
// returns: scope, kind, key, pinned, hidden, accesses, lastAccess (at most 200 rows)
MATCH (s:EbbState)
RETURN s.scope AS scope, s.kind AS kind, s.key AS key, coalesce(s.pinned = true, false) AS pinned, coalesce(s.hidden = true, false) AS hidden,
  coalesce(s.accesses, 0) AS accesses, s.lastAccess AS lastAccess
ORDER BY coalesce(s.lastAccess, s.pinnedAt) IS NULL, coalesce(s.lastAccess, s.pinnedAt) DESC, scope, kind, key
LIMIT 200
