// purpose: Say which labels and relationship types the graph has.
// mode: read
// params: none
// returns: labels: List, types: List (one row)
//
// Both come from the count store, and include what no longer has a node or relationship: no more than a hint where a look
// is in vain.
CALL db.labels() YIELD label
WITH collect(label) AS labels
CALL db.relationshipTypes() YIELD relationshipType
RETURN labels, collect(relationshipType) AS types
