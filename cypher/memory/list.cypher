// purpose: List memories of a scope after an id, without stubs of promotions.
// mode: read
// params: $scope: String, $rows.tiers: List, $session: String, $rows.tags: List, $text: String, $hasConditions: Boolean, $rows.fragments: List, $createdSince: Integer, $createdBefore: Integer, $after: String, $limit: Integer
// returns: id: String, created: null, metadata: String (at most $limit rows, by id)
//
// A null and an empty list leave their condition out. $text is sought in any case. The conditions on metadata are
// checked by the caller, in what contains $rows.fragments. Memories of other libraries, as in memory/adopt, are left out.
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $scope AND m.id > $after
  AND ($rows.tiers = [] OR m.tier IN $rows.tiers) AND ($session IS NULL OR m.sessionId = $session)
  AND all(tag IN $rows.tags WHERE tag IN m.tags)
  AND ($text IS NULL OR toLower(CASE WHEN m.content IS :: STRING NOT NULL THEN m.content END) CONTAINS toLower($text))
  AND all(fragment IN $rows.fragments WHERE m.metadata CONTAINS fragment)
  AND ($createdSince IS NULL OR m.created >= datetime({epochMillis: $createdSince}))
  AND ($createdBefore IS NULL OR m.created < datetime({epochMillis: $createdBefore}))
  AND NOT m.tier IN ['archivedWorking', 'archivedShortTerm']
  AND CASE WHEN m:EbbMemory THEN true ELSE m.content IS NOT NULL END
RETURN m.id AS id,
  null AS created,
  CASE WHEN $hasConditions AND m.metadata IS :: STRING NOT NULL THEN m.metadata END AS metadata
ORDER BY m.scope, m.id
LIMIT $limit
