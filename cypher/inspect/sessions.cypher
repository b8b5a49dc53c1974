// Sessions: the busiest sessions, the memories they accessed, and how many of these were promoted
// purpose: Show sessions by the number of memories they accessed.
// mode: read
// params: none
// returns: scope, session, started, ended, memories, accesses, kept (at most 25 rows)
MATCH (s:Session)<-[a:ACCESSED_IN]-(m:Memory)
WITH s, count(m) AS memories, sum(toIntegerOrNull(a.count)) AS accesses,
  sum(CASE WHEN m.tier IN ['shortTerm', 'longTerm'] THEN 1 ELSE 0 END) AS kept
RETURN s.scope AS scope, s.id AS session, s.started AS started, s.ended AS ended, memories, accesses, kept
ORDER BY memories DESC, scope, session
LIMIT 25
