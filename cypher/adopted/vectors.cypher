// purpose: Read the embeddings of facts that begin at nodes of a mapped label and scope.
// mode: read
// params: $rows.elements: List, $rows.groups: List, $rows.read: List
// returns: element: String, type: String, values: List (a row for each fact that is there)
// names: :Room, n.mark IS NOT NULL, n.scope IN $rows.groups, :HALL
//
// The values are those of the properties $rows.read. Embeddings are read by themselves, some facts at a time: one node may have
// thousands of facts, and all their embeddings would not fit in a page of nodes.
UNWIND $rows.elements AS element
MATCH (n:Room)-[r:HALL]->()
WHERE elementId(r) = element AND n.scope IN $rows.groups AND n.mark IS NOT NULL
RETURN element, type(r) AS type, [name IN $rows.read | r[name]] AS values
