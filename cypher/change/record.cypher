// purpose: Record the changes of a transaction for the mirrors of all processes.
// mode: write
// params: $by: String, $everything: Boolean, $rows.label: List, $rows.scope: List, $rows.key: List, $rows.kind: List
// returns: element: String, at: Integer (one row)
// bound: one node
// idempotent: by the receipt of its transaction
// clock: server
//
// A row identifies a node by its label, scope (empty where keys are unique over all scopes) and key; kind is the type
// of its changed relationships, empty where the node itself changed. $everything means more changes than can be listed.
// The instant is the server's, late in the transaction, so that a reader who reads changes since an instant, less some
// seconds, finds everything committed meanwhile. $by is the caller: the id of an API key, or the surface that needs
// none.
CREATE (c:EbbChange {
  at: datetime.realtime(),
  by: $by,
  everything: $everything,
  labels: $rows.label,
  scopes: $rows.scope,
  keys: $rows.key,
  kinds: $rows.kind
})
RETURN elementId(c) AS element, c.at.epochMillis AS at
