// purpose: List the sessions that wait for co-activation, longest-waiting first, with the memories that count in each.
// mode: read
// params: $now: Integer, $most: Integer, $limit: Integer
// returns: scope: String, id: String, members: List, all: Integer (at most $limit rows)
//
// The members are the $most most recent: they will be locked, in the order of their keys, before their session is read
// again. all is the number of accesses of the session.
MATCH (s:Session)
USING INDEX SEEK s:Session(coactivateDue)
WHERE s.coactivateDue >= datetime({epochMillis: -62135596800000}) AND s.coactivateDue <= datetime({epochMillis: $now})
  AND s.scope IS :: STRING NOT NULL AND s.id IS :: STRING NOT NULL AND NOT s:EbbQuarantined
WITH s, s.coactivateDue AS due
ORDER BY due, s.scope, s.id
LIMIT $limit
CALL (s) {
  MATCH (s)<-[a:ACCESSED_IN]-(m:Memory)
  WHERE valueType(m.id) = 'STRING NOT NULL' AND m.scope = s.scope AND m:EbbMemory AND NOT m:EbbQuarantined
    AND NOT coalesce(m.tier, 'working') IN ['archivedWorking', 'archivedShortTerm']
  WITH m.id AS id, max(CASE WHEN datetime({epochMillis: -62135596800000}) <= a.at < datetime({epochMillis: 253402300800000}) THEN a.at.epochMillis ELSE -62135596800000 END) AS at
  ORDER BY at DESC, id
  LIMIT $most
  RETURN collect(id) AS members
}
RETURN s.scope AS scope, s.id AS id, members, COUNT { (s)<-[:ACCESSED_IN]-() } AS all
ORDER BY due, scope, id
