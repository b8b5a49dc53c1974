// purpose: Leave word of what a transaction changed, for the mirrors of all processes.
// mode: write
// params: $by: String, $everything: Boolean, $rows.label: List, $rows.scope: List, $rows.key: List, $rows.kind: List
// returns: left: Integer (one row)
// bound: one node
// idempotent: by the receipt of its transaction
// clock: server
//
// A row is a node by its label, scope (empty where keys are unique over all scopes) and key; kind is the type of those of
// its relationships that changed, empty where the node itself did. $everything stands for more than can be named. The
// instant is the server's, late in the transaction, so that who asks for changes since an instant and some seconds before
// it meets what was committed meanwhile. $by is who asked for it: the id of an API key, or the surface that needs none.
CREATE (c:EbbChange {
  at: datetime.realtime(),
  by: $by,
  everything: $everything,
  labels: $rows.label,
  scopes: $rows.scope,
  keys: $rows.key,
  kinds: $rows.kind
})
RETURN count(c) AS left
