// purpose: Read nodes of a label and scope as a mirror shows them, each with the relationships that begin at it.
// mode: read
// params: $scope: String, $rows.keys: List, $rows.labels: List, $rows.before: List, $rows.never: List, $rows.costed: List, $expired: Boolean
// returns: key: String, name: String, content: String, tier: String, session: String, lastAccessed: Integer, created: Integer, accessCount: Integer, tags: List, edges: List (a row for each that is there and may be mirrored)
// names: :Room, n.id
//
// An edge is [type, index of the label of its other end in $rows.labels, its key, a number or, for RELATES_TO, a list of all that
// its law reads]. What the number is depends on the type: a cost, a strength, a weight. Values come as they are: what cannot be used is
// skipped and counted by who reads. Types of $rows.never are never mirrored; those of $rows.costed are walked at a cost. A node with a
// label of $rows.before is read as one of those. What is set aside joins nothing, nor does what leads into
// another scope: the same key is somebody else there.
UNWIND $rows.keys AS key
MATCH (n:Room)
WHERE n.scope = $scope AND n.id = key
  AND NOT n:EbbQuarantined AND n.dissolved IS NULL
  AND NOT coalesce(n.tier, '') IN ['archivedWorking', 'archivedShortTerm']
  AND ($expired OR NOT coalesce(n.tier, '') = 'expiredWorking')
  AND none(other IN $rows.before WHERE other IN labels(n))
RETURN n.id AS key,
  CASE WHEN n.name IS :: STRING NOT NULL THEN n.name END AS name,
  CASE WHEN n.content IS :: STRING NOT NULL THEN left(n.content, 65536) END AS content,
  CASE WHEN n.tier IS :: STRING NOT NULL THEN n.tier END AS tier,
  CASE WHEN n.sessionId IS :: STRING NOT NULL THEN n.sessionId END AS session,
  CASE WHEN n.lastAccessed IS :: ZONED DATETIME NOT NULL THEN n.lastAccessed.epochMillis END AS lastAccessed,
  CASE WHEN n.created IS :: ZONED DATETIME NOT NULL THEN n.created.epochMillis END AS created,
  CASE WHEN n.accessCount IS :: INTEGER NOT NULL THEN n.accessCount END AS accessCount,
  CASE WHEN n.tags IS :: LIST<STRING NOT NULL> NOT NULL THEN n.tags END AS tags,
  COLLECT {
    MATCH (n)-[r]->(b)
    WHERE NOT type(r) IN $rows.never AND r.ebbReason IS NULL AND b.scope = $scope
    WITH r, b, head([i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(b)]) AS label
    WHERE label IS NOT NULL
    RETURN [type(r), label, CASE WHEN b:Entity THEN b.name ELSE b.id END, CASE type(r)
      WHEN 'RELATES_TO' THEN [r.type, r.baseWeight, r.pinned, r.confidence,
        CASE WHEN r.weightAt IS :: ZONED DATETIME NOT NULL THEN r.weightAt.epochMillis END,
        CASE WHEN r.lastObserved IS :: ZONED DATETIME NOT NULL THEN r.lastObserved.epochMillis END,
        coalesce(r.current_cost, r.base_cost), r.weight]
      WHEN 'REINFORCES' THEN r.strength
      ELSE CASE WHEN type(r) IN $rows.costed THEN coalesce(r.current_cost, r.base_cost) ELSE r.weight END END]
  } AS edges
