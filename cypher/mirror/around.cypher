// purpose: Read the relationships from and to nodes of a label and scope, where both ends may be mirrored.
// mode: read
// params: $scope: String, $label: String, $rows.key: List, $rows.element: List, $rows.labels: List, $rows.before: List, $rows.marks: List, $rows.never: List, $rows.costed: List, $rows.stopWords: List, $unnamed: Float, $expired: Boolean, $type: String
// returns: key: String, edges: List (a row for each that is there and may be mirrored)
//
// Relationships are of one type, or of all where $type is null. An edge is [type, index of the label of its other end
// in $rows.labels, its key, its value as in mirror/edges, whether it begins at the node, its causal strength]. A node with a label of
// $rows.before is read as one of those. Quarantined nodes and relationships are excluded, and so are relationships into
// another scope: the same key is a different node there.
UNWIND range(0, size($rows.element) - 1) AS at
MATCH (n)
WHERE elementId(n) = $rows.element[at] AND $label IN labels(n)
  AND n.scope = $scope AND CASE WHEN $label = 'Entity' THEN n.name ELSE n.id END = $rows.key[at]
  AND NOT n:EbbQuarantined AND n.dissolved IS NULL
  AND NOT coalesce(n.tier, '') IN ['archivedWorking', 'archivedShortTerm']
  AND ($expired OR NOT coalesce(n.tier, '') = 'expiredWorking')
  AND none(other IN $rows.before WHERE other IN labels(n)) AND none(mark IN $rows.marks WHERE n[mark] IS NOT NULL)
RETURN $rows.key[at] AS key,
  COLLECT {
    MATCH (n)-[r]-(b)
    WHERE NOT type(r) IN $rows.never AND r.ebbReason IS NULL AND b.scope = $scope
      AND ($type IS NULL OR type(r) = $type)
      AND NOT b:EbbQuarantined AND b.dissolved IS NULL
      AND NOT coalesce(b.tier, '') IN ['archivedWorking', 'archivedShortTerm']
      AND ($expired OR NOT coalesce(b.tier, '') = 'expiredWorking')
    WITH r, b, head([i IN range(0, size($rows.labels) - 1) WHERE $rows.labels[i] IN labels(b)]) AS label
    WHERE label IS NOT NULL
    WITH r, b, label, CASE WHEN type(r) = 'MENTIONS' AND startNode(r).content IS :: STRING NOT NULL
      THEN toLower(left(startNode(r).content, 65536)) END AS text
    RETURN [type(r), label, CASE WHEN b:Entity THEN b.name ELSE b.id END, CASE type(r)
      WHEN 'RELATES_TO' THEN [r.type, r.baseWeight, r.pinned, r.confidence,
        CASE WHEN datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000}) THEN r.weightAt.epochMillis END,
        CASE WHEN datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000}) THEN r.lastObserved.epochMillis END,
        coalesce(r.current_cost, r.base_cost), r.weight]
      WHEN 'REINFORCES' THEN r.strength
      WHEN 'MENTIONS' THEN CASE WHEN endNode(r).name IS :: STRING NOT NULL
        AND none(word IN split(toLower(endNode(r).name), ' ') WHERE (size(word) > 2 OR size(word) = 2 AND word >= '\u2E80') AND NOT word IN $rows.stopWords AND text CONTAINS word)
        AND NOT text CONTAINS toLower(endNode(r).name) THEN $unnamed END
      ELSE CASE WHEN type(r) IN $rows.costed THEN coalesce(r.current_cost, r.base_cost) ELSE r.weight END END, startNode(r) = n, r.causal_strength]
  } AS edges
