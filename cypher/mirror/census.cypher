// purpose: List the nodes of a label and scope after a key, with whether they may be mirrored, and the values by which they are selected.
// mode: read
// params: $scope: String, $after: String, $limit: Integer, $rows.before: List, $rows.marks: List, $expired: Boolean
// returns: key: String, element: String, tier: String, energy: Float, energyAt: Integer, lastAccessed: Integer, accesses: Integer, pinned: Boolean, exploitation: Float, cycle: Integer, words: Integer, bytes: Integer, degree: Integer, eligible: Boolean (at most $limit rows, by key)
// names: :Room, n.id
//
// A row with a property of $rows.marks is of another library, and read by its mapping. Stubs, dissolved clusters and quarantined rows are not eligible; expired ones are where $expired is true.
// Those count within $limit, too, so that a page is bounded by what it reads, and the order is that of the index, so that nothing is sorted.
// Words are counted in expired memories alone, since the order of others needs none.
// Instants are epoch milliseconds. A value of a wrong type is null: the jobs find such a row and quarantine it.
MATCH (n:Room)
USING INDEX SEEK n:Room(scope, id)
WHERE n.scope = $scope AND n.id > $after
WITH n
ORDER BY n.scope, n.id
LIMIT $limit
RETURN n.id AS key, elementId(n) AS element, CASE WHEN n.tier IS :: STRING THEN n.tier END AS tier, toFloatOrNull(n.energy) AS energy,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= n.energyAt < datetime({epochMillis: 253402300800000}) THEN n.energyAt.epochMillis END AS energyAt,
  CASE WHEN datetime({epochMillis: -62135596800000}) <= n.lastAccessed < datetime({epochMillis: 253402300800000}) THEN n.lastAccessed.epochMillis END AS lastAccessed,
  CASE WHEN n.accessCount IS :: INTEGER NOT NULL THEN n.accessCount END AS accesses,
  n.pinned IS :: BOOLEAN NOT NULL AND n.pinned AS pinned,
  toFloatOrNull(n.exploitation_pheromone) AS exploitation,
  CASE WHEN n.pheromone_cycle IS :: INTEGER NOT NULL THEN n.pheromone_cycle END AS cycle,
  CASE WHEN n.tier = 'expiredWorking' AND n.content IS :: STRING NOT NULL THEN size(split(left(n.content, 65536), ' ')) ELSE 0 END AS words,
  CASE WHEN n.content IS :: STRING NOT NULL THEN size(n.content) ELSE 0 END
    + CASE WHEN n.excerpt IS :: STRING NOT NULL THEN size(n.excerpt) ELSE 0 END
    + CASE WHEN n.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN reduce(chars = 0, tag IN n.tags | chars + size(tag)) ELSE 0 END
    + CASE WHEN n.metadata IS :: STRING NOT NULL AND size(n.metadata) <= 4096 THEN size(n.metadata) ELSE 0 END
    + size(n.id) AS bytes,
  COUNT { (n)--() } AS degree,
  NOT n:EbbQuarantined AND n.dissolved IS NULL
    AND NOT coalesce(n.tier, '') IN ['archivedWorking', 'archivedShortTerm']
    AND ($expired OR NOT coalesce(n.tier, '') = 'expiredWorking')
    AND none(other IN $rows.before WHERE other IN labels(n)) AND none(mark IN $rows.marks WHERE n[mark] IS NOT NULL) AS eligible
