// purpose: Record the changes of a transaction for the mirrors of all processes.
// mode: write
// params: $id: String, $by: String, $everything: Boolean, $rows.label: List, $rows.scope: List, $rows.key: List, $rows.kind: List
// returns: at: Integer (one row)
// bound: one node
// idempotent: by the receipt of its transaction
// clock: server
//
// A row identifies a node by its label, scope (empty where keys are unique over all scopes) and key; kind is the type
// of its changed relationships, empty where the node itself changed. Without label and key it is all of a scope. $everything means more changes than can be listed.
// The instant is the server's, late in the transaction, so that a reader who reads changes since an instant, less some
// seconds, finds everything committed meanwhile. $id is random, so that who is told it learns nothing of other scopes. $by is the caller: the id of an API key, or the surface that needs
// none.
WITH datetime.realtime() AS at
CREATE (c:EbbChange {
  id: $id,
  at: at,
  by: $by,
  everything: $everything,
  labels: $rows.label,
  scopes: $rows.scope,
  keys: $rows.key,
  kinds: $rows.kind
})
RETURN at.epochMillis AS at
