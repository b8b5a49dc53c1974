// purpose: List memories of a scope before an instant of creation and after an id, the newest first, without stubs of promotions.
// mode: read
// params: $scope: String, $rows.tiers: List, $session: String, $rows.tags: List, $text: String, $hasConditions: Boolean, $rows.fragments: List, $createdSince: Integer, $createdBefore: Integer, $seconds: Integer, $nanoseconds: Integer, $zone: String, $after: String, $limit: Integer
// returns: id: String, created: List, zone: String, metadata: String (at most $limit rows, newest first, then by id)
//
// As memory/list. Rows of the instant of $seconds and $nanoseconds continue after the id $after. The scope is part of the order, so that it is
// that of the index, which orders equal instants by their zones; so the zone of the last row is part of a cursor.
WITH datetime({epochSeconds: $seconds, nanosecond: $nanoseconds, timezone: $zone}) AS before
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, created)
WHERE m.scope = $scope AND m.created <= before AND m.created >= datetime({epochMillis: coalesce($createdSince, -62135596800000)})
  AND CASE WHEN m.created = before THEN m.id > $after ELSE true END
  AND ($rows.tiers = [] OR m.tier IN $rows.tiers) AND ($session IS NULL OR m.sessionId = $session)
  AND all(tag IN $rows.tags WHERE tag IN m.tags)
  AND ($text IS NULL OR toLower(CASE WHEN m.content IS :: STRING NOT NULL THEN m.content END) CONTAINS toLower($text))
  AND all(fragment IN $rows.fragments WHERE m.metadata CONTAINS fragment)
  AND ($createdBefore IS NULL OR m.created < datetime({epochMillis: $createdBefore}))
  AND NOT m.tier IN ['archivedWorking', 'archivedShortTerm']
  AND CASE WHEN m:EbbMemory THEN true ELSE m.content IS NOT NULL END
RETURN m.id AS id, [m.created.epochSeconds, m.created.nanosecond] AS created, m.created.timezone AS zone,
  CASE WHEN $hasConditions AND m.metadata IS :: STRING NOT NULL THEN m.metadata END AS metadata
ORDER BY m.scope DESC, m.created DESC, id
LIMIT $limit
