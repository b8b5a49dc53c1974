// purpose: Read the relationships that begin at nodes of a label and scope, each with the element id of its other end.
// mode: read
// params: $scope: String, $label: String, $rows.key: List, $rows.element: List, $rows.never: List, $rows.costed: List, $rows.stopWords: List, $unnamed: Float
// returns: key: String, edges: List (a row for each node that is there)
//
// An edge is [type, element of its other end, a number or, for RELATES_TO, a list of all values that its law reads, its
// causal strength]. The meaning of the number depends on the type: a cost, a strength, a weight. Values are returned unchecked: the
// reader skips and counts the unusable ones. Types of $rows.never are never mirrored; those of $rows.costed are walked
// at a cost. A mention has a number, $unnamed, if neither the name nor a word of it is in the text. The other end is not checked here: the reader knows the elements of all mirrored nodes, and checking each
// end again costs half as much again.
UNWIND range(0, size($rows.element) - 1) AS at
MATCH (n)
WHERE elementId(n) = $rows.element[at] AND $label IN labels(n)
  AND n.scope = $scope AND CASE WHEN $label = 'Entity' THEN n.name ELSE n.id END = $rows.key[at]
WITH n, $rows.key[at] AS key, CASE WHEN n.content IS :: STRING NOT NULL THEN toLower(left(n.content, 65536)) END AS text
RETURN key,
  [(n)-[r]->(b) WHERE NOT type(r) IN $rows.never AND r.ebbReason IS NULL |
    [type(r), elementId(b), CASE type(r)
      WHEN 'RELATES_TO' THEN [r.type, r.baseWeight, r.pinned, r.confidence,
        CASE WHEN datetime({epochMillis: -62135596800000}) <= r.weightAt < datetime({epochMillis: 253402300800000}) THEN r.weightAt.epochMillis END,
        CASE WHEN datetime({epochMillis: -62135596800000}) <= r.lastObserved < datetime({epochMillis: 253402300800000}) THEN r.lastObserved.epochMillis END,
        coalesce(r.current_cost, r.base_cost), r.weight]
      WHEN 'REINFORCES' THEN r.strength
      WHEN 'MENTIONS' THEN CASE WHEN b.name IS :: STRING NOT NULL
        AND none(word IN split(toLower(b.name), ' ') WHERE (size(word) > 2 OR size(word) = 2 AND word >= '\u2E80') AND NOT word IN $rows.stopWords AND text CONTAINS word)
        AND NOT text CONTAINS toLower(b.name) THEN $unnamed END
      ELSE CASE WHEN type(r) IN $rows.costed THEN coalesce(r.current_cost, r.base_cost) ELSE r.weight END END, r.causal_strength]
  ] AS edges
